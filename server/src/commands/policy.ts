import { OPERATOR } from '../audit/audit.store.ts'
import { applyPolicy } from '../compliance/policies/apply-policy.ts'
import type { PolicyDefinition } from '../compliance/policies/policy.schema.ts'
import { findVersion } from '../compliance/policies/policy-version.store.ts'
import { compareDefinitions, listNamedPolicies, type NamedPolicy } from '../compliance/policies/shown-policy.ts'
import { compareNextVersion } from '../deployments/decisions/try-policy.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { defineCommand, formatTable } from './command.ts'
import { FILE, readFileOrSay } from './policy-file.ts'
import { withServices } from './with-services.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

export const policyApply = defineCommand({
  name: 'policy apply',
  about: 'Creates a policy, or a new version of an existing policy if its file has changed.',
  arguments: [],
  options: { org: ORG, file: FILE },
  async run(context, _given, { org, file }) {
    const policy = await readFileOrSay(context, file)
    const { applied, differences } = await withServices(context, async (services) => {
      const { id } = await requireOrganization(services.sql, org)
      const applied = await applyPolicy(services, id, OPERATOR, policy)
      const before = applied.changed ? await findVersion(services.sql, id, applied.id, applied.version - 1) : null
      return { applied, differences: before?.definition ? listDifferences(before.definition, policy.definition) : [] }
    })
    const { changed, ...json } = applied
    const text = `${json.name}: version ${json.version}, ${json.mode}`
    context.print({ json, text: [changed ? `Applied ${text}` : `Unchanged ${text}`, ...differences].join('\n') })
  },
})

/** What a version changes; defaults can differ from those of old versions. */
function listDifferences(before: PolicyDefinition, after: PolicyDefinition): string[] {
  const show = (value: unknown) => JSON.stringify(value)
  return compareDefinitions(before, after).map(
    ({ path, before, after }) => `  ${path}: ${show(before)} -> ${show(after)}`,
  )
}

export const policyList = defineCommand({
  name: 'policy list',
  about: "Lists an organization's policies with their current versions.",
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const policies = await withServices(context, async ({ sql }) => {
      const { id } = await requireOrganization(sql, org)
      return (await listNamedPolicies(sql, id)).map(toListed)
    })
    const rows = policies.map(({ id, name, version, mode, repository, path }) => [
      name,
      `${version}`,
      mode,
      path === undefined ? '-' : `${repository}/${path}`,
      id,
    ])
    const text = formatTable(
      ['NAME', 'VERSION', 'MODE', 'FILE', 'ID'],
      rows,
      `The organization ${org} has no policies.`,
    )
    context.print({ json: policies, text })
  },
})

export const policyDryRun = defineCommand({
  name: 'policy dry-run',
  about:
    'Compares a policy with the version that its stored file would become if it were applied now, over the last 50 deployments that it covers.',
  arguments: [],
  options: { org: ORG, name: { type: 'text', value: '<name>', about: 'the policy', required: true } },
  async run(context, _given, { org, name }) {
    const compared = await withServices(context, async (services) => {
      const { id } = await requireOrganization(services.sql, org)
      return compareNextVersion(services, id, name)
    })
    if (compared === null) throw new Error(`The organization has no policy ${name}, or its file is not stored`)
    const { deployments, is_complete } = compared
    const rows = deployments.map(({ now, next, environment, repository, id }) => [
      now === next ? 'same' : 'CHANGES',
      now,
      next,
      environment,
      repository,
      id,
    ])
    const none = 'The policy covers none of the last deployments.'
    const table = formatTable(['', 'NOW', 'NEXT', 'ENVIRONMENT', 'REPOSITORY', 'DEPLOYMENT'], rows, none)
    context.print({ json: compared, text: is_complete ? table : `${table}\n\nThe time limit ended it early.` })
  },
})

type Listed = Pick<NamedPolicy, 'id' | 'name' | 'version' | 'mode'> & { repository?: string; path?: string }

/** Names the file only of a policy that comes from a repository. */
function toListed({ id, name, version, mode, repository, path }: NamedPolicy): Listed {
  return { id, name, version, mode, ...(path !== null && { repository: String(repository), path }) }
}
