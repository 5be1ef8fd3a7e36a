import type { Schema } from '../api/client.ts'
import { orderEnvironments } from './environment-order.ts'

type Board = Schema<'DeploymentBoard'>
export type BoardCell = Board['cells'][number]
export type BoardDeployment = Board['waiting'][number]

/** A repository with its cells by environment. */
export type BoardRow = { repository: string; cells: Map<string, BoardCell> }

/** What the board can be narrowed to. */
export const ATTENTIONS = ['waiting', 'failed'] as const
export type Attention = (typeof ATTENTIONS)[number]

const FAILED = ['failure', 'rejected', 'expired']

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
