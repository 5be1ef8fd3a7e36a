import { isFirstReadRunning } from '../../codehosts/sync/sync-repository.store.ts'
import type { GatePatterns } from '../../deployments/asked-gate.ts'
import type { DeploymentKey } from '../../deployments/deployment-state.ts'
import { buildEarlierGatesJson } from '../../deployments/gates/configured-gate.store.ts'
import { buildHasRequiredGates } from '../../deployments/gates/required-gate.store.ts'
import { buildPromoted, buildPromotedColumns, type PromotedRow } from '../../deployments/promotion.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import { buildConnectionId } from '../../repositories/followed-repository.store.ts'
import { buildChangeId } from '../changes/change.store.ts'
import { buildNewestStatement, buildStoredRecord } from './statement.store.ts'
import {
  type StatementColumns,
  type StatementRow,
  type StoredRecord,
  type StoredRecordRow,
  toStatementRow,
  toStoredRecord,
} from './statement-content.ts'

/** A deployment and what determines its statements, except the breaks of the chain. */
export type StatedDeployment = PromotedRow & {
  /** The change that the commit landed with. Self-reported deployments have none. */
  change: StoredRecord | null
  is_first_read_running: boolean
}

/** `lineage` is the statement that was issued last. */
type LineageDeployment = StatedDeployment & { lineage: StatementRow | null }

/** What the row of the newest statement of an input of a summary says. It is not authenticated. */
type IssuedInput = Pick<StatementRow, 'facts' | 'statement_digest'>

export type VerifiedDeployment = StatedDeployment & {
  has_required_gates: boolean
  /** The gates that were configured before the deployment was created. */
  earlier_gates: GatePatterns[]
  inputs: { change: IssuedInput | null; lineage: IssuedInput | null }
  verification: StatementRow | null
}

type IssuedColumns = StatementColumns | { [Column in keyof StatementColumns]: null }

type Row = PromotedRow &
  IssuedColumns & {
    change: (Omit<StoredRecordRow, 'landed_at'> & { landed_at: string }) | null
    connection_id: string | null
    is_first_read_running: boolean
  }

/** A deployment at `now` with its newest lineage statement, with one query. */
export async function findLineageDeployment(db: Db, key: DeploymentKey, now: Date): Promise<LineageDeployment | null> {
  const [row] = await db<Row[]>`
    with stated as materialized (
      select ${statedColumns(db, key.org_id)}
      from ${stated(db, key, now)}
      left join lateral (${buildNewestStatement(db, key.org_id, 'lineage', 'deployment')}) statement on true
    )
    ${withFirstRead(db)}`
  if (row === undefined) return null
  const { issued, ...deployment } = toStated(row)
  return { ...deployment, lineage: issued }
}

type VerifiedRow = Row & {
  has_required_gates: boolean
  earlier_gates: GatePatterns[]
  change_facts: Buffer | null
  change_digest: string
  lineage_facts: Buffer | null
  lineage_digest: string
}

/** A deployment at `now` with its newest summary and the newest inputs of one, with one query. */
export async function findVerifiedDeployment(
  db: Db,
  key: DeploymentKey,
  now: Date,
): Promise<VerifiedDeployment | null> {
  const [row] = await db<VerifiedRow[]>`
    with stated as materialized (
      select ${statedColumns(db, key.org_id)},
        ${buildHasRequiredGates(db, key.org_id, 'deployment')} as has_required_gates,
        ${buildEarlierGatesJson(db, key.org_id, 'deployment')} as earlier_gates,
        of_change.facts as change_facts, of_change.statement_digest as change_digest,
        of_lineage.facts as lineage_facts, of_lineage.statement_digest as lineage_digest
      from ${stated(db, key, now)}
      left join lateral (${buildNewestStatement(db, key.org_id, 'verification', 'deployment')}) statement on true
      left join lateral (${buildNewestStatement(db, key.org_id, 'lineage', 'deployment')}) of_lineage on true
      left join lateral (${buildNewestStatement(db, key.org_id, 'change', 'change')}) of_change on true
    )
    ${withFirstRead(db)}`
  if (row === undefined) return null
  const { change_facts, change_digest, lineage_facts, lineage_digest, ...others } = row
  const { issued, ...deployment } = toStated(others)
  const inputs = { change: toInput(change_facts, change_digest), lineage: toInput(lineage_facts, lineage_digest) }
  return { ...deployment, inputs, verification: issued }
}

function statedColumns(db: Db, orgId: string) {
  return db`${buildPromotedColumns(db)},
    case when change.id is not null then to_json(change) end as change,
    ${buildConnectionId(db, 'deployment', orgId)} as connection_id,
    statement.*`
}

/** Connections are on another server than deployments if there are several: a step of its own. */
function withFirstRead(db: Db) {
  return db`
    select stated.*, ${isFirstReadRunning(db, 'stated')} as is_first_read_running
    from stated`
}

function stated(db: Db, key: DeploymentKey, now: Date) {
  return db`${buildPromoted(db, key, now)}
    left join lateral (
      ${buildStoredRecord(db, db`change.org_id = deployment.org_id and change.id = (${buildChangeId(db, key.org_id, 'deployment')})`)}
    ) change on true`
}

function toStated<Columns extends Row>(row: Columns) {
  const { facts, keyid, statement_digest, envelope, issued_at, mac, key, change, connection_id: _, ...deployment } = row
  const issued =
    facts === null ? null : toStatementRow({ facts, keyid, statement_digest, envelope, issued_at, mac, key })
  const recorded = change && toStoredRecord({ ...change, landed_at: new Date(change.landed_at) })
  return { ...deployment, change: recorded, issued }
}

function toInput(facts: Buffer | null, statement_digest: string): IssuedInput | null {
  return facts && { facts, statement_digest }
}
