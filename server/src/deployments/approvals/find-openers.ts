import { listCreators } from '../../access/credential-creator.store.ts'
import { findProviderAccounts } from '../../access/users/provider-account.store.ts'
import { type HostLogin, listRunStarters } from '../../ci/provider-runs/run-starter.store.ts'
import { findRunCredential } from '../../ci/runs/run.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { DeploymentState } from '../deployment-state.ts'
import { findOpening } from './answer.store.ts'
import type { Openers } from './answerable.ts'

/**
 * Finds who opened a deployment: the credentials that reported its run or opened its gate, the
 * users
 * who created them, and those of `people` whose account on the code host started the run or created
 * the deployment there.
 */
export async function findOpeners(db: Db, state: DeploymentState, people: readonly string[]): Promise<Openers> {
  const { org_id, pipeline_run_id: runId, attempt } = state
  const [runCredential, opening, started] = await Promise.all([
    runId === null ? null : findRunCredential(db, org_id, runId),
    findOpening(db, state),
    runId === null ? [] : listRunStarters(db, org_id, runId, attempt),
  ])
  const { provider, credential_id, host_creator } = opening
  const credential_ids = [runCredential, credential_id].filter((id) => id !== null)
  const accounts = [...started, ...(provider && host_creator ? [{ provider, login: host_creator }] : [])]
  const [creator_ids, starter_ids] = await Promise.all([
    listCreators(db, org_id, credential_ids),
    accounts.length === 0 ? [] : listOwners(db, org_id, accounts, people),
  ])
  return { credential_ids, creator_ids, starter_ids }
}

/** Those of `people` who have linked one of the accounts. Logins ignore case, as on code hosts. */
async function listOwners(
  db: Db,
  orgId: string,
  accounts: readonly HostLogin[],
  people: readonly string[],
): Promise<string[]> {
  const named = new Set(accounts.map(accountKey))
  const linked = await Promise.all(people.map((userId) => findProviderAccounts(db, orgId, userId)))
  return people.filter((_, at) => linked[at]?.some((account) => named.has(accountKey(account))))
}

function accountKey({ provider, login }: HostLogin): string {
  return `${provider} ${login.toLowerCase()}`
}
