// What a signature for Amazon is good for: the service and the region, as a host names them.

/** `bedrock-mantle.eu-west-1.api.aws`; of the older hosts the service is the first word of its name. */
export const awsScope = (host: string): { service: string; region: string } | undefined => {
  const [, name = '', region = ''] =
    /^([a-z-]+)\.([a-z]{2}(?:-[a-z]+)+-\d)\.(?:api\.aws|amazonaws\.com(?:\.cn)?)$/.exec(host) ?? []
  if (region === '') return undefined
  return { service: name === 'bedrock-runtime' ? 'bedrock' : name, region }
}
