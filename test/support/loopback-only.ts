// Programs of others that are to talk to this machine alone.

/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9'

/** An environment in which what is not on this machine is out of reach. */
export const LOOPBACK_ONLY = {
  ...{ HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, http_proxy: NOWHERE, https_proxy: NOWHERE },
  ...{ NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' },
}
