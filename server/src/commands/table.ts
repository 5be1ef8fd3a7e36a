/** Pads each column to the width of its widest cell, with two spaces between columns. */
export function formatColumns(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows.map((row) => joinCells(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))))
}

function joinCells(cells: string[]): string {
  return cells.join('  ').trimEnd()
}

/**
 * A table with a heading and one line for each row, or `whenEmpty` if there are no rows. Control
 * characters in names that people have chosen do not reach the terminal.
 */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
): string {
  const shown = rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, '?')))
  return rows.length === 0 ? whenEmpty : formatColumns([heading, ...shown]).join('\n')
}
