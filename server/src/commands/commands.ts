import type { AnyCommand } from './command.ts'

type Listed = { about: string; load: () => Promise<AnyCommand> }

/**
 * Every command of the program. A command's code is loaded only when it runs, because loading takes
 * most of its time.
 */
export const COMMANDS = {
  start: { about: 'run the API and the worker in one process', load: async () => (await import('./start.ts')).start },
  server: { about: 'run the API only', load: async () => (await import('./start.ts')).server },
  worker: { about: 'run the background jobs only', load: async () => (await import('./worker.ts')).worker },
  migrate: {
    about: 'migrate the database to the current schema',
    load: async () => (await import('./migrate.ts')).migrateDatabase,
  },
  'upgrade-postgres': {
    about: 'copy the embedded database to a new major version of PostgreSQL',
    load: async () => (await import('./upgrade-postgres.ts')).upgradePostgres,
  },
  'org create': { about: 'create an organization', load: async () => (await import('./org.ts')).orgCreate },
  'org set-plan': { about: "change an organization's plan", load: async () => (await import('./org.ts')).orgSetPlan },
  'org set': { about: 'change what an organization lets count', load: async () => (await import('./org.ts')).orgSet },
  'org list': { about: 'list the organizations', load: async () => (await import('./org.ts')).orgList },
  'org export': {
    about: 'write an organization to a file',
    load: async () => (await import('./org-content.ts')).orgExport,
  },
  'org delete': {
    about: 'delete an organization with everything in it',
    load: async () => (await import('./org-content.ts')).orgDelete,
  },
  'key create': { about: 'create an API key', load: async () => (await import('./key.ts')).keyCreate },
  'key list': { about: "list an organization's API keys", load: async () => (await import('./key.ts')).keyList },
  'key revoke': { about: 'revoke an API key', load: async () => (await import('./key.ts')).keyRevoke },
  'user invite': {
    about: 'make a link with which a person joins an organization',
    load: async () => (await import('./user.ts')).userInvite,
  },
  'user list': { about: 'list the users', load: async () => (await import('./user.ts')).userList },
  'user disable': { about: 'disable a user', load: async () => (await import('./user.ts')).userDisable },
  'user enable': { about: 'enable a disabled user', load: async () => (await import('./user.ts')).userEnable },
  'user set-role': { about: 'change the role of a member', load: async () => (await import('./user.ts')).userSetRole },
  'user reset': {
    about: "make a link that replaces a user's password",
    load: async () => (await import('./user.ts')).userReset,
  },
  'trust create': {
    about: 'accept the tokens of CI jobs in place of an API key',
    load: async () => (await import('./trust.ts')).trustCreate,
  },
  'trust list': {
    about: "list an organization's OIDC trusts",
    load: async () => (await import('./trust.ts')).trustList,
  },
  'trust revoke': { about: 'revoke an OIDC trust', load: async () => (await import('./trust.ts')).trustRevoke },
  'trust unpin': {
    about: 'release names that an OIDC trust has pinned to ids',
    load: async () => (await import('./trust.ts')).trustUnpin,
  },
  'trust test': {
    about: 'verify a token and show why it is accepted or rejected',
    load: async () => (await import('./trust.ts')).trustTest,
  },
  'repo link': { about: "link a provider's repository", load: async () => (await import('./repo.ts')).repoLink },
  'repo list': { about: 'list the linked repositories', load: async () => (await import('./repo.ts')).repoList },
  'provider setup': {
    about: 'create the App of a code host',
    load: async () => (await import('./provider.ts')).providerSetup,
  },
  'provider connect': {
    about: 'connect an installation to an organization',
    load: async () => (await import('./provider.ts')).providerConnect,
  },
  'provider deliveries': {
    about: 'list webhook deliveries of code hosts',
    load: async () => (await import('./provider-sync.ts')).providerDeliveries,
  },
  'provider replay': {
    about: 'apply a webhook delivery again',
    load: async () => (await import('./provider-sync.ts')).providerReplay,
  },
  'provider list': {
    about: 'list connections and waiting installations',
    load: async () => (await import('./provider.ts')).providerList,
  },
  'provider sync': {
    about: 'synchronize a connection with its code host',
    load: async () => (await import('./provider-sync.ts')).providerSync,
  },
  'provider disconnect': {
    about: 'remove a connection',
    load: async () => (await import('./provider.ts')).providerDisconnect,
  },
  'gate create': { about: 'configure a deployment gate', load: async () => (await import('./gate.ts')).gateCreate },
  'gate list': { about: 'list the configured gates', load: async () => (await import('./gate.ts')).gateList },
  'gate changes': {
    about: 'list the changes of gates and policies that wait for a second person',
    load: async () => (await import('./gate.ts')).gateChanges,
  },
  'gate confirm': {
    about: 'confirm a change that waits for a second person',
    load: async () => (await import('./gate.ts')).gateConfirm,
  },
  'gate withdraw': {
    about: 'withdraw a change that waits for a second person',
    load: async () => (await import('./gate.ts')).gateWithdraw,
  },
  'gate delete': { about: 'delete a configured gate', load: async () => (await import('./gate.ts')).gateDelete },
  'environment set': {
    about: 'state facts about environments',
    load: async () => (await import('./environment.ts')).environmentSet,
  },
  'environment list': {
    about: 'list what is stated about environments',
    load: async () => (await import('./environment.ts')).environmentList,
  },
  'environment move': {
    about: 'change which entry of environments counts first',
    load: async () => (await import('./environment.ts')).environmentMove,
  },
  'environment delete': {
    about: 'delete what is stated about environments',
    load: async () => (await import('./environment.ts')).environmentDelete,
  },
  'intel import': {
    about: 'import vulnerability intelligence',
    load: async () => (await import('./intel.ts')).intelImport,
  },
  'intel status': {
    about: 'show the stored intelligence with its dates',
    load: async () => (await import('./intel.ts')).intelStatus,
  },
  'policy apply': {
    about: 'create or update a policy',
    load: async () => (await import('./policy.ts')).policyApply,
  },
  'policy dry-run': {
    about: 'compare a policy with its next version, over the last deployments',
    load: async () => (await import('./policy.ts')).policyDryRun,
  },
  'policy list': { about: 'list the policies', load: async () => (await import('./policy.ts')).policyList },
  'policy test': {
    about: 'evaluate a policy file on an input',
    load: async () => (await import('./policy-file.ts')).policyTest,
  },
  'policy schema': {
    about: 'print the JSON Schema of policy files',
    load: async () => (await import('./policy-file.ts')).policySchema,
  },
  'policy input-schema': {
    about: 'print the JSON Schema of the policy input',
    load: async () => (await import('./policy-file.ts')).policyInputSchema,
  },
  'policy capabilities': {
    about: 'print what Rego of repositories may call',
    load: async () => (await import('./policy-file.ts')).policyCapabilities,
  },
  'alert list': {
    about: 'list the security alerts of code hosts',
    load: async () => (await import('./alert.ts')).alertList,
  },
  'alert dismiss': {
    about: 'dismiss a security alert',
    load: async () => (await import('./alert.ts')).alertDismiss,
  },
  'change list': {
    about: 'list the changes that landed on tracked branches',
    load: async () => (await import('./change.ts')).changeList,
  },
  'issues regroup': {
    about: 'recompute all unique issues',
    load: async () => (await import('./issues.ts')).issuesRegroup,
  },
  'signing-key list': {
    about: "list an organization's signing keys",
    load: async () => (await import('./signing-key.ts')).signingKeyList,
  },
  'signing-key rotate': {
    about: 'make a new signing key',
    load: async () => (await import('./signing-key.ts')).signingKeyRotate,
  },
  'signing-key export-public': {
    about: 'print the public key that verifies statements',
    load: async () => (await import('./signing-key.ts')).signingKeyExportPublic,
  },
  'provenance verify': {
    about: 'verify the hash chains of change records',
    load: async () => (await import('./provenance.ts')).provenanceVerify,
  },
  'provenance acknowledge': {
    about: 'record what happened to a broken chain',
    load: async () => (await import('./provenance.ts')).provenanceAcknowledge,
  },
  'retention run': {
    about: 'delete what is older than the retention of the plans',
    load: async () => (await import('./retention.ts')).retentionRun,
  },
  backup: {
    about: 'write a consistent copy of database, objects and secret key',
    load: async () => (await import('./backup.ts')).backup,
  },
  'backup verify': {
    about: 'check that a backup is complete and unchanged',
    load: async () => (await import('./backup.ts')).backupVerify,
  },
  'backup base': {
    about: 'copy the embedded database, to restore it to any later time',
    load: async () => (await import('./backup-base.ts')).backupBase,
  },
  'restore base': {
    about: 'restore the embedded database to a time',
    load: async () => (await import('./backup-base.ts')).restoreBase,
  },
  restore: {
    about: 'restore a backup into an empty data directory or database',
    load: async () => (await import('./restore.ts')).restore,
  },
  demo: {
    about: 'make or remove an organization with example data',
    load: async () => (await import('./demo.ts')).demo,
  },
  health: {
    about: 'ask a running server or worker whether it is alive',
    load: async () => (await import('./health.ts')).health,
  },
  doctor: {
    about: 'check settings, database, object store, worker, clock and code hosts',
    load: async () => (await import('./doctor.ts')).doctor,
  },
} satisfies Record<string, Listed>

type CommandName = keyof typeof COMMANDS

/** The command that arguments name: two words, such as `backup verify`, or else one. */
export function findName(args: readonly string[]): CommandName | null {
  const names = [args.slice(0, 2).join(' '), args[0] ?? '']
  return names.find(isCommandName) ?? null
}

function isCommandName(text: string): text is CommandName {
  return Object.hasOwn(COMMANDS, text)
}
