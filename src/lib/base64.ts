// Base64 without reading it: it may be megabytes.

/** How many bytes it stands for, in either alphabet. */
export const bytesOfBase64 = (text: string): number => Math.floor((text.replace(/=+$/, '').length * 3) / 4)
