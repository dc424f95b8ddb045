// The part of autocannon this bench uses; the package ships no types.

declare module 'autocannon' {
  export type Options = {
    url: string
    connections: number
    /** Seconds, fractions allowed. */
    duration: number
    method: string
    headers: Record<string, string>
    body: string
    /** False counts the answer in `mismatches`. */
    verifyBody(body: string): boolean
    /** Milliseconds between samples; the end of a run is seen at a sample. */
    sampleInt: number
  }
  export type Result = {
    '2xx': number
    non2xx: number
    errors: number
    mismatches: number
    requests: { total: number }
    throughput: { total: number }
    start: Date
    finish: Date
  }
  const run: (options: Options) => Promise<Result>
  export default run
}
