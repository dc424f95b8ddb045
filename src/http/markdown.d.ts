// Guides are imported as text and travel in the binary.
declare module '*.md' {
  const text: string
  export default text
}
