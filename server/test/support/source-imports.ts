/**
 * One file of server/src: its path from there, its text without comments, and its lines as they
 * are.
 */
export type Source = { path: string; text: string; lines: readonly string[] }

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|import\(\s*'([^']+)'|(?:^|\n)import '([^']+)'/g

/** What the file imports: other files as they are written there, and packages. */
export function importsOf(text: string): { specifier: string; typeOnly: boolean }[] {
  return [...text.matchAll(IMPORT)].map((match) => ({
    specifier: match[2] ?? match[3] ?? match[4] ?? '',
    typeOnly: match[1] !== undefined,
  }))
}

/** The file that a relative import means, as a path from server/src. */
export function resolvePath(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1)
}
