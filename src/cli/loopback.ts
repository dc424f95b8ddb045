// What is on this machine is reached without the environment's proxy, which would look for it on the proxy's machine.

const LOOPBACK = 'localhost,127.0.0.0/8,::1'

/** Adds this machine to the names that `fetch` asks no proxy for. */
export const reachLoopback = (env: NodeJS.ProcessEnv): void => {
  // The runtime reads one of the two lists, the small one first.
  const list = env.no_proxy ? 'no_proxy' : 'NO_PROXY'
  env[list] = env[list] ? `${env[list]},${LOOPBACK}` : LOOPBACK
}
