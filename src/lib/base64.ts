// Base64 without reading it: it may be megabytes.

/** How many bytes it stands for, in either alphabet. */
export const bytesOfBase64 = (text: string): number => Math.floor((text.replace(/=+$/, '').length * 3) / 4)

/** What base64 in JSON may hold beside its standard alphabet and padding, where it is base64 at all. */
const OTHERS = [...'-_%\\ ']

/** Whether readers of base64 in either alphabet, with breaks or in an address, would write it as it stands. */
export const isPlainBase64 = (json: Buffer): boolean => !OTHERS.some((other) => json.includes(other))
