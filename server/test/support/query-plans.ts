import postgres from 'postgres'
import type { Sql } from '../../src/platform/db/sql.ts'
import type { TestApi } from './api.ts'
import type { Json } from './json.ts'

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
  const { host, port, database, user } = services.sql.options as unknown as Record<string, Json>
  const queries: [text: string, parameters: unknown[]][] = []
  const sql = postgres({
    ...{ host: host[0], port: port[0], database, user, max: 1 },
    debug: (_connection, text, parameters) => queries.push([text, parameters]),
  }) as unknown as Sql
  try {
    await sql`select 'connected'`
    queries.length = 0
    await use(sql)
    const made = queries.splice(0)
    const nodes: PlanNode[] = []
    for (const [text, parameters] of made) {
      const rows = await sql.unsafe(`explain (analyze, buffers, format json) ${text}`, parameters as never[])
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
