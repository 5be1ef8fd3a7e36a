import { openClient } from '../../src/platform/db/client/client.ts'
import type { TestApi } from './api.ts'
import { flatten, type PlanNode } from './query-plans.ts'

/** A statement that was executed, and how many rows the nodes of its plan handled. */
type Executed = { text: string; rows: number }

type Explanation = { 'Query Text': string; Plan: PlanNode }

/**
 * Runs `use` with services whose connections report the plan of every statement that they execute,
 * as auto_explain writes it. Returns the statements in their order.
 */
export async function executedBy(api: TestApi, use: (api: TestApi) => Promise<unknown>): Promise<Executed[]> {
  const executed: Executed[] = []
  const { options } = api.services.sql
  const sql = openClient({
    ...options,
    noticed: (message) => {
      const json = /^duration: .* plan:\n(.*)$/s.exec(message)?.[1]
      if (json !== undefined) executed.push(executedOf(JSON.parse(json)))
    },
    target: () => {
      const target = options.target()
      return { ...target, parameters: { ...target.parameters, ...EXPLAIN_ALL } }
    },
  })
  try {
    await use({ ...api, services: { ...api.services, sql } })
    return executed
  } finally {
    await sql.end()
  }
}

const EXPLAIN_ALL = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_level': 'notice',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
}

function executedOf({ 'Query Text': text, Plan: plan }: Explanation): Executed {
  const rows = flatten(plan).reduce((sum, node) => sum + handled(node), 0)
  return { text, rows: Math.round(rows) }
}

function handled(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)
  return (node['Actual Rows'] + removed) * node['Actual Loops']
}
