import { Type } from 'typebox'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { ItemPath, OrganizationPath } from '../../access/gateway/open-to-people.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { PolicyFilter, VersionPath, VersionsToCompare } from './policy-request.schema.ts'
import {
  ComparedVersions,
  ListedPolicy,
  PolicyVersion,
  PolicyWithFile,
  StoredPolicyVersion,
} from './policy-response.schema.ts'
import { findVersion, listVersions, type StoredVersion } from './policy-version.store.ts'
import { compareDefinitions, listNamedPolicies, requireNamedPolicy } from './shown-policy.ts'

const PATH = `${ORGANIZATION_PATH}/policies`
const READ = { permission: ['view', 'manage_policies'] } as const
const LISTED_MAX = 1000
const tags = ['Policies']

/** The routes that read policies and their versions. */
export async function registerPolicyRoutes(app: HttpServer, { sql }: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: READ,
      schema: {
        operationId: 'listPolicies',
        summary: 'List policies',
        description:
          'Returns up to 1,000 policies by name: those of the organization, then those from files in repositories.',
        tags,
        params: OrganizationPath,
        querystring: PolicyFilter,
        response: { 200: Envelope(Type.Array(ListedPolicy), 'The policies.') },
      },
    },
    async ({ actor, query }) => {
      const policies = await listNamedPolicies(sql, actor.org_id)
      const wanted = policies.filter(({ repository }) => !query.repository || repository === query.repository)
      return { data: wanted.slice(0, LISTED_MAX) }
    },
  )

  app.get(
    `${PATH}/:id`,
    {
      config: READ,
      schema: {
        operationId: 'getPolicy',
        summary: 'Get a policy',
        description: 'Returns one policy with the file of its current version.',
        tags,
        params: ItemPath,
        response: { 200: Envelope(PolicyWithFile, 'The policy.') },
      },
    },
    async ({ actor, params }) => {
      const policy = await requireNamedPolicy(sql, actor.org_id, params.id)
      return { data: { ...policy, current: await requireVersion(actor.org_id, policy.id, policy.version) } }
    },
  )

  app.get(
    `${PATH}/:id/versions`,
    {
      config: READ,
      schema: {
        operationId: 'listPolicyVersions',
        summary: 'List the versions of a policy',
        description: 'Returns the newest 1,000 versions of a policy with who applied them and why, newest first.',
        tags,
        params: ItemPath,
        response: { 200: Envelope(Type.Array(PolicyVersion), 'The versions, newest first.') },
      },
    },
    async ({ actor, params }) => {
      const { id } = await requireNamedPolicy(sql, actor.org_id, params.id)
      return { data: await listVersions(sql, actor.org_id, id) }
    },
  )

  app.get(
    `${PATH}/:id/versions/:version`,
    {
      config: READ,
      schema: {
        operationId: 'getPolicyVersion',
        summary: 'Get a version of a policy',
        description: 'Returns one version of a policy with its file.',
        tags,
        params: VersionPath,
        response: { 200: Envelope(StoredPolicyVersion, 'The version.') },
      },
    },
    async ({ actor, params }) => {
      const { id } = await requireNamedPolicy(sql, actor.org_id, params.id)
      return { data: await requireVersion(actor.org_id, id, Number(params.version)) }
    },
  )

  app.get(
    `${PATH}/:id/compare`,
    {
      config: READ,
      schema: {
        operationId: 'comparePolicyVersions',
        summary: 'Compare two versions of a policy',
        description:
          'Returns two versions of a policy with their files, and the parts that differ. Without parameters, it compares ' +
          'the current version with the one before.\n\nErrors: 404 `not_found` if the policy has no such version, or only ' +
          'one.',
        tags,
        params: ItemPath,
        querystring: VersionsToCompare,
        response: { 200: Envelope(ComparedVersions, 'The versions and their differences.') },
      },
    },
    async ({ actor, params, query }) => {
      const policy = await requireNamedPolicy(sql, actor.org_id, params.id)
      const { to = policy.version, from = to - 1 } = query
      const [earlier, later] = await Promise.all(
        [from, to].map((version) => requireVersion(actor.org_id, policy.id, version)),
      )
      return { data: compare(earlier as StoredVersion, later as StoredVersion) }
    },
  )

  async function requireVersion(orgId: string, policyId: string, version: number): Promise<StoredVersion> {
    const isNumber = Number.isInteger(version) && version > 0 && version < 2 ** 31
    const found = isNumber ? await findVersion(sql, orgId, policyId, version) : null
    if (found === null) throw createNotFoundError('version of the policy')
    return found
  }
}

/** A definition that cannot be read is compared by its file only. */
function compare(from: StoredVersion, to: StoredVersion) {
  const { definition: before } = from
  const { definition: after } = to
  return { from, to, differences: before && after ? compareDefinitions(before, after) : [] }
}
