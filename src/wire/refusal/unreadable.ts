// Images and PDFs that a provider refuses or cannot fetch, or too many of them. Agents match on these messages to remove the file from
// the conversation, or to send it themselves; otherwise they send it again with every turn.

import { GatewayError, type ProviderFailure } from '../../errors.ts'

/** Contains the sentences of both vendors, as agents look for one or the other. */
export const INVALID_IMAGE =
  'Could not process image: The image data you provided does not represent a valid image. Take it out, or send it as a JPEG, PNG, GIF or WebP.'
export const NO_IMAGE = 'Could not process image: This model takes none. Take it out, or use a model that sees.'
const UNFETCHED = 'Unable to download the file. Please verify the URL and try again, or send the file itself.'
const LARGE_IMAGE = 'An image exceeds the maximum size that this model takes. Take it out, or send a smaller one.'

export const tooManyImages = (most: number | string): string =>
  `Too many images in request. Max is ${most}. Take some of them out.`

const CODES: ReadonlyMap<string, string> = new Map([
  ...[
    'invalid_image',
    'invalid_image_file',
    'invalid_image_format',
    'invalid_image_mode',
    'invalid_base64_image',
    'empty_image_file',
    'image_parse_error',
    'unsupported_image_media_type',
  ].map((code) => [code, INVALID_IMAGE] as const),
  ...['image_too_large', 'image_file_too_large'].map((code) => [code, LARGE_IMAGE] as const),
  ['failed_to_download_image', UNFETCHED],
])

export const UNREADABLE_CODES = [...CODES.keys()]

/** Patterns of providers' messages, and the gateway's message with the figures they capture. */
const PATTERNS: [RegExp, (...figures: string[]) => string][] = [
  [
    /image exceeds (\d{1,9}(?:\.\d{1,3})? [KMG]i?B) maximum: (\d{1,15}) bytes > (\d{1,15}) bytes/,
    (size, bytes, most) =>
      `image exceeds ${size} maximum: ${bytes} bytes > ${most} bytes. Take it out, or send a smaller one.`,
  ],
  [/image exceeds/, () => LARGE_IMAGE],
  [
    /image dimensions exceed max allowed size( for many-image requests)?: (\d{1,9}) pixels/,
    (many = '', pixels) =>
      `At least one of the image dimensions exceed max allowed size${many}: ${pixels} pixels. Take the image out, or send a smaller one.`,
  ],
  [
    /maximum of (\d{1,9}) PDF pages/,
    (pages) => `A maximum of ${pages} PDF pages may be provided. Send fewer, or the text in their place.`,
  ],
  [
    /PDF specified is password protected/,
    () => 'The PDF specified is password protected. Take it out, or send it without a password.',
  ],
  [/PDF specified was not valid/, () => 'The PDF specified was not valid. Take it out, or send another.'],
  [
    /too many images and documents: (\d{1,9}) \+ (\d{1,9}) > (\d{1,9})/,
    (images, documents, most) =>
      `too many images and documents: ${images} + ${documents} > ${most}. Take some of them out.`,
  ],
  [
    /Too much media: (\d{1,9}) document pages \+ (\d{1,9}) images > (\d{1,9})/,
    (pages, images, most) =>
      `Too much media: ${pages} document pages + ${images} images > ${most}. Take some of them out.`,
  ],
  [
    /(?:Too many images in request\. Max is |contains \d{1,9} images, exceeding the maximum of |At most (?=\d{1,9} image\(s\))|Image count \d{1,9} exceeds limit |too many images: .{0,80} maximum of )(\d{1,9})/,
    (most) => (most === '0' ? NO_IMAGE : tooManyImages(most)),
  ],
  [
    /Could not process image|image cannot be empty|does not represent a valid image|uploaded an unsupported image|image was specified using the|Expected a base64-encoded data URL with an image/,
    () => INVALID_IMAGE,
  ],
  // And not a tool of that name.
  [/\b(?:unable|error|timeout|failed)\b.{0,12}\bdownload(?:ing)?\b(?!-)|\brobots\.txt\b/i, () => UNFETCHED],
  [/(?:not|n't) support (?:the )?images?\b|[Ii]mage input is not supported|is not a multimodal model/, () => NO_IMAGE],
]

/** The error for a refusal, by its code or its message; undefined for one that is about something else. */
export const unreadable = (
  message: string,
  code: string | undefined,
  provider: ProviderFailure,
): GatewayError | undefined => {
  const sentence = CODES.get(code ?? '') ?? sentenceFor(message)
  return sentence === undefined ? undefined : new GatewayError('invalid_request', sentence, { provider })
}

const sentenceFor = (message: string): string | undefined => {
  for (const [pattern, sentence] of PATTERNS) {
    const found = pattern.exec(message)
    if (found !== null) return sentence(...found.slice(1))
  }
  return undefined
}
