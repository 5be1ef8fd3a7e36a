import { COMMAND_LINE } from '../audit/audit.store.ts'
import { applyPolicy } from '../compliance/policies/apply-policy.ts'
import { type ListedPolicy, listAllPolicies } from '../compliance/policies/policy.store.ts'
import { requireOrganization } from '../organizations/require-organization.ts'
import { listRepositories, type Repository } from '../repositories/repository.store.ts'
import { administer } from './administer.ts'
import { defineCommand } from './command.ts'
import { FILE, readFileOrSay } from './policy-file.ts'
import { table } from './table.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

export const policyApply = defineCommand({
  name: 'policy apply',
  about: 'Creates a policy, or a new version of an existing policy if its file has changed.',
  arguments: [],
  options: { org: ORG, file: FILE },
  async run(context, _given, { org, file }) {
    const policy = await readFileOrSay(context, file)
    const applied = await administer(context, async (services) => {
      const organization = await requireOrganization(services.sql, org)
      return applyPolicy(services, organization.id, COMMAND_LINE, policy)
    })
    const { changed, ...json } = applied
    const text = `${json.name}: version ${json.version}, ${json.mode}`
    context.print({ json, text: changed ? `Applied ${text}` : `Unchanged ${text}` })
  },
})

export const policyList = defineCommand({
  name: 'policy list',
  about: "Lists an organization's policies with their current versions.",
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const policies = await administer(context, async ({ sql }) => {
      const { id } = await requireOrganization(sql, org)
      return toListed(await listAllPolicies(sql, id), await listRepositories(sql, id))
    })
    const rows = policies.map(({ id, name, version, mode, repository, path }) => [
      name,
      `${version}`,
      mode,
      path === undefined ? '-' : `${repository}/${path}`,
      id,
    ])
    const text = table(['NAME', 'VERSION', 'MODE', 'FILE', 'ID'], rows, `The organization ${org} has no policies.`)
    context.print({ json: policies, text })
  },
})

type Listed = Pick<ListedPolicy, 'id' | 'name' | 'version' | 'mode'> & { repository?: string; path?: string }

/** Names the file only of a policy that comes from a repository. */
function toListed(policies: ListedPolicy[], repositories: Repository[]): Listed[] {
  const names = new Map(repositories.map(({ provider, id, full_name }) => [`${provider} ${id}`, full_name]))
  return policies.map(({ id, name, version, mode, provider, repository_id, path }) => {
    const repository = names.get(`${provider} ${repository_id}`) ?? String(repository_id)
    return { id, name, version, mode, ...(path !== null && { repository, path }) }
  })
}
