import { APP_PROVIDERS, type AppProvider } from '../codehosts/catalogue.ts'
import type { Services } from '../services.ts'
import { describeFailure } from './command.ts'

type AppCheck = `${AppProvider} app`

const APP_STEPS = Object.fromEntries(
  APP_PROVIDERS.map((provider) => [
    toAppCheck(provider),
    `Set the credentials of the App again, or run: shiplock-server provider setup ${provider}`,
  ]),
) as Record<AppCheck, string>

/** The name of the check of our App at a host. */
export function toAppCheck(provider: AppProvider): AppCheck {
  return `${provider} app`
}

/** What an operator does when a check fails: a sentence with a command or a page. */
const NEXT_STEPS = {
  settings: 'Correct the variables that are named. docs/operations.md#settings describes all of them.',
  database: 'Start PostgreSQL, or correct DATABASE_URL. Supported are PostgreSQL 15 to 18.',
  migrations: 'Run: shiplock-server migrate',
  replication:
    'Correct DATABASE_URL if it leads to a standby. Otherwise start the standby, or take it out of synchronous_standby_names.',
  'secret key':
    'Set SHIPLOCK_SECRET_KEY to the key with which the data was stored, or restore the file secret-key from a backup (chmod 600).',
  objects: 'Make the data directory writable, or correct the SHIPLOCK_S3_… settings: docs/operations.md#objects',
  'uploads from browsers':
    'Check the address and the credentials of the bucket: docs/operations.md#uploads-from-browsers',
  disk: 'Make the file system larger: docs/operations/monitoring.md#shiplockdiskfull',
  gates: 'Create a gate that covers the environment: shiplock-server gate create --help',
  provenance: 'Run: shiplock-server provenance verify, and see docs/operations.md#change-records',
  statements: 'Run: shiplock-server provenance verify, and see docs/operations/security.md#forged-rows',
  log: 'Run: shiplock-server provenance verify, and see docs/transparency-log.md#operations',
  worker:
    'Start a worker: shiplock-server worker. For failed jobs, docs/operations.md#background-jobs says what is missing then.',
  sweepers: 'Start a worker: shiplock-server worker',
  retention: 'Start a worker, or run: shiplock-server retention run. See docs/operations/retention.md.',
  backups: 'Run: shiplock-server backup FILE. See docs/operations/backup.md.',
  'WAL archive':
    'See postgres.log in the data directory. If the setting is new, restart: docs/operations/backup.md says how.',
  clock: 'Synchronize the clocks of this machine and of the database server (NTP).',
  'signing key': 'Check SHIPLOCK_SIGNING_KMS_KEY and the AWS credentials: docs/operations.md#signing-keys',
  opa: 'Start the OPA server (version 1.0 or newer), or correct SHIPLOCK_OPA_URL: docs/policies.md',
  mail: 'Correct SHIPLOCK_SMTP_URL, or the account on the mail server: docs/people.md#email',
  'identity provider': 'Correct SHIPLOCK_SSO_ISSUER, or make the provider reachable: docs/single-sign-on.md',
  proxies: 'Run: shiplock-server migrate. docs/operations.md#settings describes SHIPLOCK_TRUSTED_PROXIES.',
  trusts: 'Run: shiplock-server migrate. docs/oidc.md says which jobs count as verified.',
  policies: 'Run: shiplock-server migrate. docs/policies.md says what a policy looks at.',
  'private addresses': 'Run: shiplock-server migrate. docs/operations/security.md says what the server reads.',
  ...APP_STEPS,
  connections: 'Run: shiplock-server provider list, and repair the reason that it shows for the account.',
  installations: 'Run: shiplock-server provider connect',
  deliveries:
    'Run: shiplock-server provider deliveries --status failed, repair the cause, then: shiplock-server provider replay',
  calls: 'See the reasons in the audit log (host_call.fail): docs/operations/monitoring.md#shiplockhostcallsfailed',
} as const

export type CheckName = keyof typeof NEXT_STEPS

export const CHECK_NAMES = Object.keys(NEXT_STEPS) as CheckName[]

/** `next` is set where another step than that of the check repairs it. */
export type Result = { ok: boolean; detail: string; next?: string }

/** SQLSTATE of tables and columns that a later migration makes. */
const UNDEFINED = ['42P01', '42703']
export const MIGRATE_FIRST = {
  ok: false,
  detail: 'not checked: the database is not migrated',
  next: NEXT_STEPS.migrations,
}

/**
 * The result of one check. `next` says what to do about a failure. Only the check `database` has a
 * `url`.
 */
export type Finding = Result & { check: CheckName; url?: string }

export type Check = { check: CheckName; examine: (services: Services) => Promise<Result> }

/** Runs a check. An error that it throws becomes its result. */
export async function runCheck(check: CheckName, examine: () => Promise<Result>): Promise<Finding> {
  try {
    return toFinding(check, await examine())
  } catch (error) {
    return toFinding(check, isUndefined(error) ? MIGRATE_FIRST : { ok: false, detail: describeFailure(error) })
  }
}

function isUndefined(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNDEFINED.includes(String(error.code))
}

export function toFinding(check: CheckName, result: Result): Finding {
  return { check, ...result, ...(!result.ok && { next: result.next ?? NEXT_STEPS[check] }) }
}
