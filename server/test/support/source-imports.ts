/**
 * One file of server/src: its path from there, its text without comments, and its lines as they
 * are.
 */
export type Source = { path: string; text: string; lines: readonly string[] }

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|(lazy\(async \(\) => \(await )?import\(\s*'([^']+)'|(?:^|\n)import '([^']+)'/g

/** What the file imports: other files as they are written there, and packages. */
export function importsOf(text: string): { specifier: string; typeOnly: boolean; isLazy: boolean }[] {
  return [...text.matchAll(IMPORT)].map((match) => ({
    specifier: match[2] ?? match[4] ?? match[5] ?? '',
    typeOnly: match[1] !== undefined,
    isLazy: match[3] !== undefined,
  }))
}

/**
 * Whether an import is that of a job's work, in the same slice. A definition names the work of its
 * job, which is loaded when the job runs. The work may queue the job again, so the definition is
 * below it.
 */
export function isJobsWork(path: string, { specifier, isLazy }: { specifier: string; isLazy: boolean }): boolean {
  const slice = path.split('/', 1)[0]
  return isLazy && path.endsWith('.job.ts') && resolvePath(path, specifier).split('/', 1)[0] === slice
}

/** The file that a relative import means, as a path from server/src. */
export function resolvePath(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1)
}
