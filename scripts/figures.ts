// The figures that a running server tells of itself.

/** The sum of a metric's values, by how its lines begin. */
export const figuresOf = async (url: string): Promise<(name: string) => number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return (name) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(name))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
