import type { Schema } from '../../api/client.ts'

/** What the board can be narrowed to. */
export const ATTENTIONS = ['waiting', 'failed'] as const

const FAILED = ['failure', 'rejected', 'expired']

/** What the words of an environment's name say about how near it is to production. */
const RANKS: [words: string[], rank: number][] = [
  [['nonprod', 'nonproduction'], 0],
  [['preprod', 'preproduction'], 3],
  [['local', 'sandbox', 'dev', 'develop', 'development', 'preview', 'review', 'pr'], 0],
  [['test', 'testing', 'qa', 'ci', 'integration', 'int'], 1],
  [['uat', 'acceptance', 'demo', 'beta'], 2],
  [['stage', 'staging', 'canary', 'rc'], 3],
  [['prod', 'production', 'live'], 4],
]

const UNKNOWN = 5

type Board = Schema<'DeploymentBoard'>

export type BoardCell = Board['cells'][number]

export type BoardDeployment = Board['waiting'][number]

/** A repository with its cells by environment. */
export type BoardRow = { repository: string; cells: Map<string, BoardCell> }

export type Attention = (typeof ATTENTIONS)[number]

/** The rows and columns of the board. A column stays as long as any repository has a cell in it. */
export function layOut(cells: BoardCell[], attention?: Attention): { rows: BoardRow[]; environments: string[] } {
  const rows = new Map<string, BoardRow>()
  for (const cell of cells) {
    const { repository_full_name: repository, environment } = cell
    const row = rows.get(repository) ?? { repository, cells: new Map() }
    rows.set(repository, row)
    row.cells.set(environment, cell)
  }
  const shown = [...rows.values()].filter((row) => needsAttention(row, attention))
  return { rows: shown, environments: orderEnvironments(shown.flatMap(({ cells }) => [...cells.keys()])) }
}

function needsAttention({ cells }: BoardRow, attention: Attention | undefined): boolean {
  if (attention === undefined) return true
  return [...cells.values()].some(({ newer }) => {
    if (newer === null) return false
    return attention === 'waiting' ? newer.status === 'pending_approval' : FAILED.includes(newer.status)
  })
}

/** Environments in the order in which a change passes them: development, staging, production. */
export function orderEnvironments(names: Iterable<string>): string[] {
  return [...new Set(names)].sort((a, b) => rankOf(a) - rankOf(b) || a.localeCompare(b))
}

function rankOf(name: string): number {
  const words = name
    .toLowerCase()
    .replace(/\b(pre|non)[-_ ]?(?=prod)/, '$1')
    .split(/[^a-z]+/)
  return RANKS.find(([known]) => known.some((word) => words.includes(word)))?.[1] ?? UNKNOWN
}
