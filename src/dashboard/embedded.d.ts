// The page as one JSON text, written by scripts/build.ts before it compiles the binary.
declare module '*.bundle' {
  const text: string
  export default text
}
