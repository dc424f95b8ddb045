// A QR code, black on white in any theme: cameras look for that.

import { encode } from 'uqr'

/** Modules left white around it, as readers expect. */
const BORDER = 4

export const QrCode = ({ text, label }: { text: string; label: string }) => {
  const { data, size } = encode(text, { border: BORDER, ecc: 'M' })
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join('')} fill="#000" />
    </svg>
  )
}
