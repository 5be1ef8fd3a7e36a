import { openClient } from '../../src/platform/db/client/client.ts'
import type { Query } from '../../src/platform/db/client/query.ts'
import { TypedValue } from '../../src/platform/db/client/template.ts'
import type { Sql } from '../../src/platform/db/sql.ts'
import type { TestApi } from './api.ts'

/** A node of PostgreSQL's plan, as `explain (analyze, buffers)` writes it. */
export type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  /** Blocks of the database that the node and the nodes below it have read. */
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanNode[]
}

/** Runs `use`, and returns every node of the plans of the queries that it made. */
export async function plansOf({ services }: TestApi, use: (sql: Sql) => Promise<unknown>): Promise<PlanNode[]> {
  const queries: Query<unknown>[] = []
  const sql = openClient({ ...services.sql.options, max: 1, asked: (query) => queries.push(query) })
  try {
    await use(sql)
    const made = queries.splice(0).map(({ rendered }) => rendered)
    const nodes: PlanNode[] = []
    for (const { preparable, values } of made) {
      const typed = values.map((value, at) => new TypedValue(value, preparable.types[at] as number))
      const rows = await sql.unsafe(`explain (analyze, buffers, format json) ${preparable.text}`, typed)
      nodes.push(...flatten(rows[0]?.['QUERY PLAN'][0].Plan))
    }
    return nodes
  } finally {
    await sql.end()
  }
}

/** A node and all nodes below it. */
export function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)]
}
