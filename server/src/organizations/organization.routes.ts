import { type Actor, toAuthor } from '../access/actor.ts'
import { ORGANIZATION_PATH } from '../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../access/gateway/open-to-people.ts'
import { toMemberAuthor } from '../access/members/author.ts'
import { renameOrganization } from '../access/members/manage-members.ts'
import {
  DefaultTrustChange,
  InventoryMatchingChange,
  OrganizationChange,
  OrganizationSettings,
} from '../access/members/member.schema.ts'
import { getDefaultAudience } from '../access/oidc-trusts/trusts/trust-request.ts'
import { countArtifactBytes } from '../ci/reports/artifact.store.ts'
import { countCreatedRuns } from '../ci/runs/run.store.ts'
import { assignDefaultTrust } from '../compliance/policies/default-trust.ts'
import { operatorRequired } from '../errors/deployments.ts'
import { getNextUtcMonthStart, getUtcMonthStart } from '../platform/clock.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { sendData } from '../platform/http/responses.ts'
import { Envelope } from '../platform/http/schemas.ts'
import { update } from '../platform/queue/update.ts'
import { assignInventoryMatching } from '../security/matches/match-components.job.ts'
import type { Services } from '../services.ts'
import {
  findDefaultTrust,
  findHostDismissals,
  findInventoryMatching,
  findMonthlyUse,
  isChangedByTwo,
  isDemo,
  isOnlyOrganization,
  type Organization,
} from './organization.store.ts'
import { Usage } from './usage.schema.ts'

export async function registerUsageRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    `${ORGANIZATION_PATH}/usage`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getUsage',
        summary: "Get the organization's usage",
        description: 'Returns the plan of the organization, its limits, and what is used of them.',
        tags: ['Usage'],
        params: OrganizationPath,
        response: { 200: Envelope(Usage, 'The plan and its usage.') },
      },
    },
    async ({ actor }) => ({ data: await readUsage(services, actor) }),
  )
}

async function readUsage({ sql, clock }: Services, { org_id, plan }: Actor) {
  const now = clock.now()
  const [month, resets_at] = [getUtcMonthStart(now), getNextUtcMonthStart(now).toISOString()]
  const { ci_runs_per_month_max: runs, artifact_bytes_per_month_max: bytes } = plan
  // The counter of a metric is only kept for plans that limit it.
  const [usedRuns, usedBytes] = await Promise.all([
    runs === null ? countCreatedRuns(sql, org_id, month) : findMonthlyUse(sql, org_id, 'ci_runs', month),
    bytes === null ? countArtifactBytes(sql, org_id, month) : findMonthlyUse(sql, org_id, 'artifact_bytes', month),
  ])
  return {
    plan: plan.name,
    features: [...plan.features],
    retention_days: plan.retention_days,
    limits: [
      { name: 'ci_runs_per_month' as const, used: usedRuns, limit: runs, resets_at },
      { name: 'artifact_bytes_per_month' as const, used: usedBytes, limit: bytes, resets_at },
    ],
    maximums: {
      security_report_bytes: plan.security_report_bytes_max,
      security_uploads_per_commit: plan.security_uploads_per_commit_max,
      artifact_bytes: plan.artifact_bytes_max,
      artifact_bytes_per_run: plan.artifact_bytes_per_run_max,
    },
  }
}

export async function registerOrganizationRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql, config } = services
  const describe = async (organization: Organization) => {
    const [is_demo, isOnly, default_trust, two_person_changes, inventory_matching, host_dismissals] = await Promise.all(
      [
        isDemo(sql, organization.id),
        isOnlyOrganization(sql, organization.id),
        findDefaultTrust(sql, organization.id),
        isChangedByTwo(sql, organization.id),
        findInventoryMatching(sql, organization.id),
        findHostDismissals(sql, organization.id),
      ],
    )
    const origin = new URL(config.baseUrl).origin
    const job_audience = getDefaultAudience({ origin, slug: organization.slug, isOnly })
    const settings = { default_trust, two_person_changes, inventory_matching, host_dismissals }
    return { ...organization, is_demo, job_audience, ...settings }
  }

  app.get(
    ORGANIZATION_PATH,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getOrganization',
        summary: 'Get the organization',
        description: 'Returns the organization.',
        tags: ['Members and roles'],
        params: OrganizationPath,
        response: { 200: Envelope(OrganizationSettings, 'The organization.') },
      },
    },
    async ({ actor: { organization } }, reply) => sendData(reply, JSON.stringify(await describe(organization))),
  )

  app.patch(
    ORGANIZATION_PATH,
    {
      config: { permission: 'manage_members', updates: () => [update('organization')] },
      schema: {
        operationId: 'renameOrganization',
        summary: 'Rename the organization',
        description: 'Changes the display name of the organization. The slug stays.',
        tags: ['Members and roles'],
        params: OrganizationPath,
        body: OrganizationChange,
        response: { 200: Envelope(OrganizationSettings, 'The renamed organization.') },
      },
    },
    async ({ actor, body }, reply) => {
      const writer = { orgId: actor.org_id, author: toMemberAuthor(actor) }
      const name = await renameOrganization(services, writer, body.name)
      return sendData(reply, JSON.stringify(await describe({ ...actor.organization, name })))
    },
  )

  app.put(
    `${ORGANIZATION_PATH}/default-trust`,
    {
      config: { permission: 'manage_policies', fresh: true, updates: () => [update('organization'), update('policy')] },
      schema: {
        operationId: 'setDefaultTrust',
        summary: 'Set the default trust',
        description:
          'States whose evidence the rules of policies admit that name no `trust`. For waiting deployments, `verified` is in ' +
          'force at once, and `uploaded` 24 hours after `verified`.\n\nErrors: 409 `operator_required` if changes of gates ' +
          'and policies wait for a second person.',
        tags: ['Policies'],
        params: OrganizationPath,
        body: DefaultTrustChange,
        response: { 200: Envelope(OrganizationSettings, 'The organization.') },
      },
    },
    async ({ actor, body }, reply) => {
      if (await isChangedByTwo(services.sql, actor.org_id)) throw operatorRequired()
      await assignDefaultTrust(services, actor.org_id, toAuthor(actor, {}), body.default_trust)
      return sendData(reply, JSON.stringify(await describe(actor.organization)))
    },
  )

  app.put(
    `${ORGANIZATION_PATH}/inventory-matching`,
    {
      config: {
        permission: 'manage_members',
        fresh: true,
        updates: () => [update('organization'), update('finding'), update('issue')],
      },
      schema: {
        operationId: 'setInventoryMatching',
        summary: 'Turn matching of components on or off',
        description:
          'States whether components of bills of materials are matched with advisories. Findings are opened or ended in the ' +
          'background. Triage of findings that end stays, and holds when they are opened again.\n\nErrors: 409 ' +
          '`operator_required` if changes of gates and policies wait for a second person.',
        tags: ['Members and roles'],
        params: OrganizationPath,
        body: InventoryMatchingChange,
        response: { 200: Envelope(OrganizationSettings, 'The organization.') },
      },
    },
    async ({ actor, body }, reply) => {
      if (await isChangedByTwo(services.sql, actor.org_id)) throw operatorRequired()
      await assignInventoryMatching(services, actor.org_id, toAuthor(actor, {}), body.inventory_matching)
      return sendData(reply, JSON.stringify(await describe(actor.organization)))
    },
  )
}
