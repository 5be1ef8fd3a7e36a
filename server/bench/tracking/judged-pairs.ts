import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A result of a report, as a person named it. */
export type JudgedResult = { tool: string; rule: string; path: string; start_line: number; end_line: number }

/** Two results of one commit, and whether a person says that they are the same issue. */
export type JudgedPair = {
  kind: 'code' | 'secret' | 'iac'
  repository: string
  commit: string
  a: JudgedResult
  b: JudgedResult
  same: boolean
  why: string
}

/** Rows of the table. The first two are about pairs of different scanners. */
export type PairGroup = 'code and secrets' | 'infrastructure as code' | 'one scanner'

export function groupOf({ kind, a, b }: Pick<JudgedPair, 'kind' | 'a' | 'b'>): PairGroup {
  if (a.tool === b.tool) return 'one scanner'
  return kind === 'iac' ? 'infrastructure as code' : 'code and secrets'
}

/** The pairs of pairs.jsonl; none if there is no such file. */
export function readJudgedPairs(data: string): JudgedPair[] {
  const file = join(data, 'pairs.jsonl')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const pair = JSON.parse(line) as JudgedPair
      return { ...pair, repository: pair.repository.replace(/[/+]/, '__') }
    })
}
