/**
 * Where a table is kept in a database of several servers (docs/operations/citus.md):
 * - `distributed`: the rows of an organization are on one server, together with all its other rows.
 * - `reference`: every server has all rows.
 * - `local`: all rows are on the coordinator.
 */
export type TablePlace = 'distributed' | 'reference' | 'local'

/** What every organization reads and only the intelligence jobs write. */
const REFERENCE_TABLES: ReadonlySet<string> = new Set([
  'intel_advisories',
  'intel_affected',
  'intel_epss',
  'intel_fixes',
  'intel_kev',
  'intel_package_changes',
  'intel_sources',
  'vulnerability_alias_changes',
  'vulnerability_aliases',
  'vulnerability_assertions',
])

const BY_HASH = 'It is looked up by a hash, before its organization is known.'
const OF_PEOPLE = 'A person belongs to any number of organizations.'
const OF_HOST = 'It is found by what a code host calls it, before its organization is known.'
const OF_CONNECTION = 'Workers look for what is due over all connections, which are local.'
const OF_LOG = 'The transparency log numbers the entries of all organizations in one order.'
const OF_PROGRAM = 'It describes the installation, and has few rows.'
const ACCESS = 'Triggers tell all processes about its changes, and it is read together with people.'

/** The tables on the coordinator, with the reason of each. */
const LOCAL_TABLES: Readonly<Record<string, string>> = {
  organizations: 'Names are unique over all organizations.',
  deleted_organizations: OF_PROGRAM,
  users: 'Email addresses are unique over all people.',
  user_passwords: OF_PEOPLE,
  user_sessions: BY_HASH,
  user_totp: OF_PEOPLE,
  recovery_codes: OF_PEOPLE,
  passkeys: OF_PEOPLE,
  passkey_challenges: BY_HASH,
  sign_in_attempts: OF_PEOPLE,
  known_browsers: OF_PEOPLE,
  unstated_proxies: OF_PROGRAM,
  request_counts: 'It counts requests before their organization is known.',
  links: BY_HASH,
  api_keys: BY_HASH,
  oidc_trusts: 'It is looked up by its id, before its organization is known.',
  trust_events: 'It refers to trusts, which are local.',
  trust_pins: 'It refers to trusts, which are local.',
  members: ACCESS,
  member_accounts: OF_PEOPLE,
  saved_views: OF_PEOPLE,
  custom_roles: ACCESS,
  single_sign_on: OF_PEOPLE,
  sso_identities: OF_PEOPLE,
  sso_requests: BY_HASH,
  audit_entries: 'Triggers protect it, and it is written together with what is local.',
  codehost_app_setups: OF_HOST,
  codehost_apps: OF_HOST,
  codehost_installations: OF_HOST,
  codehost_installation_repositories: OF_HOST,
  codehost_connections: 'An account is connected once over all organizations.',
  codehost_calls: OF_CONNECTION,
  codehost_refusals: OF_CONNECTION,
  codehost_syncs: OF_CONNECTION,
  codehost_sync_lists: OF_CONNECTION,
  codehost_sync_repositories: OF_CONNECTION,
  codehost_deliveries: OF_HOST,
  codehost_delivery_checks: OF_HOST,
  codehost_redeliveries: OF_HOST,
  log_checkpoints: OF_LOG,
  log_entries: OF_LOG,
  log_key: OF_LOG,
  log_tiles: OF_LOG,
  jobs: 'Workers look for the next one over all organizations.',
  job_schedules: OF_PROGRAM,
  events: 'A row is written in the statement that queues its job, and the queue is local.',
  abandoned_objects: 'Workers look for what is due over all organizations.',
  allowed_hosts: OF_PROGRAM,
  replica_marks: OF_PROGRAM,
  retention_kinds: OF_PROGRAM,
  retention_state: OF_PROGRAM,
  schema_migration_batches: OF_PROGRAM,
  schema_migrations: OF_PROGRAM,
}

/**
 * The local tables that distributed ones refer to. A foreign key cannot lead from one server to
 * another, so these end when the tables are distributed. Each states what keeps the references
 * true without them.
 */
export const ENDED_REFERENCES: Readonly<Record<string, string>> = {
  organizations: 'An organization is only deleted after all its rows, and rows that come later are swept.',
  users: 'People are disabled and not deleted, except those of example data, whose rows go first.',
  codehost_connections: 'Connections end as "removed" and are only deleted with their organization.',
}

/** The place of a table, or null if the lists do not know it. Organization tables have `org_id`. */
export function getTablePlace(table: string, isOfOrganization: boolean): TablePlace | null {
  if (REFERENCE_TABLES.has(table)) return 'reference'
  if (table in LOCAL_TABLES) return 'local'
  return isOfOrganization ? 'distributed' : null
}

/** All names in the lists. */
export function listPlacedTables(): string[] {
  return [...REFERENCE_TABLES, ...Object.keys(LOCAL_TABLES)]
}
