/** Lines with every column as wide as its widest cell, two spaces apart. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** A list for people: a heading and one line an item, or a sentence where there is none. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[], whenEmpty: string): string {
  return rows.length === 0 ? whenEmpty : alignColumns([heading, ...rows]).join('\n')
}
