import { Group, Skeleton, Stack, Text } from '@mantine/core'
import {
  IconCircleCheck,
  IconCircleX,
  IconGitCommit,
  IconGitMerge,
  IconLockOpen2,
  IconPackage,
  IconRoute,
  IconShieldCheck,
  IconShieldExclamation,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { asApiError } from '../../api/api-error.ts'
import { useOrganization } from '../../api/session.ts'
import type { GraphEdge, GraphNode } from '../../graph/graph.ts'
import { LayeredGraph } from '../../graph/layered-graph.tsx'
import { type Icon, statusLook, type Tone, ToneBadge } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { RepositoryLink } from '../../page/repository.tsx'
import { Facts, Section } from '../../page/sections.tsx'
import { describeProblem, Empty, Problem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { shortSha } from '../facts/change-words.ts'
import { statementQuery } from '../facts/queries.ts'
import { StatementPanel } from '../statement/statement-panel.tsx'
import { lineageSteps, type PromotionPath, predicateOf, type Step, type VerificationSummary } from './lineage-steps.ts'

const route = getRouteApi('/signed-in/orgs/$org/provenance/lineage/$id')

/** Steps that have no status of their own. */
const LOOKS: Record<Exclude<Step['kind'], 'run' | 'deployment'>, [tone: Tone, icon: Icon]> = {
  commit: ['neutral', IconGitCommit],
  change: ['success', IconGitMerge],
  artifact: ['neutral', IconPackage],
  gate: ['success', IconShieldCheck],
  override: ['failure', IconShieldExclamation],
  bypass: ['failure', IconLockOpen2],
}

/** How a commit came to a deployment, as its signed statement says. */
export function LineagePage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const query = useQuery(statementQuery(org, 'lineage', id))
  const statement = query.data?.data
  const path = useMemo(() => (statement ? predicateOf<PromotionPath>(statement) : null), [statement])
  const title = path ? `Lineage of ${path.repository.full_name} in ${path.deployment.environment}` : 'Lineage'
  return (
    <Page
      title={title}
      heading={<bdi>{title}</bdi>}
      description="How the commit came to this deployment: what landed, what ran, what was built, and who let it out."
      breadcrumbs={
        <Link {...pages.lineages(org)} size="sm">
          Lineage
        </Link>
      }
      actions={<ButtonLink {...pages.deployment(org, id)}>Open deployment</ButtonLink>}
    >
      {query.isPending && <Skeleton height={220} aria-busy />}
      {query.isError && <NoLineage error={query.error} retry={() => void query.refetch()} />}
      {path && <Lineage org={org} id={id} path={path} />}
    </Page>
  )
}

function Lineage({ org, id, path }: { org: string; id: string; path: PromotionPath }) {
  const { nodes, edges } = useMemo(() => lineageGraph(org, path), [org, path])
  const { commit, deployment } = path
  return (
    <Stack gap="xl">
      <LayeredGraph label="Lineage" nodes={nodes} edges={edges} />
      <Section title="Deployment">
        <Facts
          facts={[
            ['Repository', <RepositoryLink key="repository" name={path.repository.full_name} />],
            ['Environment', deployment.environment],
            [
              'Commit',
              <Link key="commit" {...pages.changes(org)} search={{ commit }} size="sm" title={commit}>
                {shortSha(commit)}
              </Link>,
            ],
            ['Created', <Time key="created" at={deployment.created_at} />],
            ['Deployed', deployment.deployed_at && <Time at={deployment.deployed_at} />],
          ]}
        />
      </Section>
      <StatementPanel
        org={org}
        title="Promotion path"
        kind="lineage"
        id={id}
        commit={commit}
        filename={`lineage-${id}.json`}
      />
      {path.change && <ServerVerdict org={org} id={id} />}
      {path.change ? (
        <StatementPanel
          org={org}
          title="Verification summary"
          kind="verification"
          id={id}
          commit={commit}
          filename={`verification-${id}.json`}
        />
      ) : (
        <Section title="Verification summary">
          <Text size="sm" c="dimmed">
            There is none: no change record has the commit. Only deployments of connected code hosts have one.
          </Text>
        </Section>
      )}
    </Stack>
  )
}

/** What the server itself says about the deployment, in its signed summary. */
function ServerVerdict({ org, id }: { org: string; id: string }) {
  const statement = useQuery(statementQuery(org, 'verification', id)).data?.data
  if (!statement) return null
  const { verificationResult, verifiedLevels } = predicateOf<VerificationSummary>(statement)
  const isPassed = verificationResult === 'PASSED'
  return (
    <Section title="Verified by the server">
      <Group gap="sm">
        <ToneBadge tone={isPassed ? 'success' : 'failure'} icon={isPassed ? IconCircleCheck : IconCircleX}>
          {isPassed ? 'Passed' : 'Failed'}
        </ToneBadge>
        <Text size="sm" c="dimmed">
          {verifiedLevels.join(' · ')}
        </Text>
      </Group>
    </Section>
  )
}

function NoLineage({ error, retry }: { error: unknown; retry: () => void }) {
  const response = asApiError(error)
  if (response === null || response.status >= 500 || response.code === 'not_found')
    return <Problem error={error} title="The lineage could not be loaded" retry={retry} />
  return (
    <Empty icon={IconRoute} title="No lineage yet">
      {describeProblem(error)}
    </Empty>
  )
}

/** The steps of a lineage as they are drawn. */
function lineageGraph(org: string, path: PromotionPath): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const { steps, edges } = lineageSteps(path)
  return { nodes: steps.map((step) => nodeOf(org, step)), edges }
}

function nodeOf(org: string, step: Step): GraphNode {
  const { id, label, detail, page } = step
  const place = { id, label, ...(page !== undefined && { href: `/orgs/${org}/${page}` }) }
  if (step.kind === 'run' || step.kind === 'deployment') {
    const { label: word, tone, icon } = statusLook(step.status ?? 'queued')
    return { ...place, detail: `${detail} · ${word}`, tone, icon }
  }
  const [tone, icon] = LOOKS[step.kind]
  return { ...place, ...(detail !== undefined && { detail }), tone: step.needsAttention ? 'waiting' : tone, icon }
}
