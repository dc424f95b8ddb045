// Whether a host is this machine itself: what is sent there leaves it never.

/** `hostname`: as URLs have it. */
export const isThisMachine = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]|0\.0\.0\.0|\[::\])$/i.test(
    hostname,
  ) || /\.localhost$/i.test(hostname)
