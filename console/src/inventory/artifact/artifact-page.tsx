import { Alert, Group, Stack, Text } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/client.ts'
import { StatusBadge, TrustBadge } from '../../page/badges.tsx'
import { CopyText } from '../../page/copy.tsx'
import { Link } from '../../page/link.tsx'
import { formatPlural } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Section } from '../../page/sections.tsx'
import { Empty, QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { LANE_NAMES } from '../facts/inventory-words.ts'
import { artifactQuery } from '../facts/queries.ts'

const route = getRouteApi('/signed-in/orgs/$org/digests/$id')

/** The API returns so many of each, newest first. */
const SHOWN_MAX = 100
const STATEMENTS = { lineage: 'Lineage', verification: 'Verification summary' } as const

type Trace = Schema<'ArtifactTrace'>

/** Everything that is known about a digest: who built it, what is inside, and where it was deployed. */
export function ArtifactPage() {
  const { org, id } = route.useParams()
  const query = useQuery(artifactQuery(org, id))
  return (
    <Page
      title={`Digest ${id.slice(0, 12)}`}
      description="What is known about a file or an image with this SHA-256 digest."
      breadcrumbs={
        <Link {...pages.components(org)} size="sm">
          Inventory
        </Link>
      }
    >
      <QueryView query={query} of="digest">
        {({ data, meta }) => (
          <Stack gap="xl">
            <CopyText text={`sha256:${data.sha256}`} of="digest" />
            {meta.omitted.length > 0 && <Alert color="gray">Not shown to you: {meta.omitted.join(', ')}.</Alert>}
            <Known org={org} trace={data} />
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

function Known({ org, trace }: { org: string; trace: Trace }) {
  const { runs, reports, attestations, sboms = [], deployments = [], statements = [] } = trace
  const all = [runs, reports, attestations, sboms, deployments, statements]
  if (all.every(({ length }) => length === 0))
    return (
      <Empty icon={IconFingerprint} title="Nothing is known about this digest">
        No run, report, bill of materials or deployment has named it. Images are known when a report names them, for
        example with <code>shiplock report --image</code>.
      </Empty>
    )
  return (
    <>
      <Found title="Runs that built it" rows={runs}>
        {({ id, pipeline_name, repository, trust, created_at }) => (
          <Row at={created_at} aside={<TrustBadge trust={trust} />}>
            <Link {...pages.run(org, id)} size="sm">
              <bdi>{oneLine(pipeline_name, 100)}</bdi>
            </Link>{' '}
            of <bdi>{oneLine(repository, 120)}</bdi>
          </Row>
        )}
      </Found>
      <Found title="Deployments of it" rows={deployments}>
        {({ id, repository, environment, status, created_at }) => (
          <Row at={created_at} aside={<StatusBadge status={status} />}>
            <Link {...pages.deployment(org, id)} size="sm">
              <bdi>{oneLine(repository, 120)}</bdi> to <bdi>{oneLine(environment, 80)}</bdi>
            </Link>
          </Row>
        )}
      </Found>
      <Found title="Bills of materials about it" rows={sboms}>
        {({ id, repository, category, components, lane, created_at }) => (
          <Row at={created_at} aside={<Dimmed>{LANE_NAMES[lane as keyof typeof LANE_NAMES] ?? lane}</Dimmed>}>
            <Link {...pages.upload(org, id)} size="sm">
              {formatPlural(components, 'component')}
            </Link>{' '}
            of <bdi>{oneLine(repository, 120)}</bdi>
            {category !== null && (
              <>
                , category <bdi>{oneLine(category, 80)}</bdi>
              </>
            )}
          </Row>
        )}
      </Found>
      <Found title="Reports that name it" rows={reports}>
        {({ id, run_id, attempt, job_name, name, platform, trust, created_at }) => (
          <Row at={created_at} aside={<TrustBadge trust={trust} />}>
            <Link {...pages.run(org, run_id)} search={{ report: id, attempt }} size="sm">
              <bdi>{oneLine(job_name, 80)}</bdi>
            </Link>{' '}
            calls it <bdi>{oneLine(name, 200)}</bdi>
            {platform !== null && ` (${oneLine(platform, 40)})`}
          </Row>
        )}
      </Found>
      <Found title="Attestations of these reports" rows={attestations}>
        {({ name, kind, status, trust, created_at }) => (
          <Row at={created_at} aside={<TrustBadge trust={trust} />}>
            <StatusBadge status={status} /> <bdi>{oneLine(name, 120)}</bdi> ({oneLine(kind, 40)})
          </Row>
        )}
      </Found>
      <Found title="Signed statements" rows={statements}>
        {({ kind, deployment_id, issued_at }) => (
          <Row at={issued_at}>
            <Link {...pages.lineage(org, deployment_id)} size="sm">
              {STATEMENTS[kind]}
            </Link>
          </Row>
        )}
      </Found>
    </>
  )
}

type FoundProps<Item> = { title: string; rows: Item[]; children: (item: Item) => ReactNode }

function Found<Item>({ title, rows, children }: FoundProps<Item>) {
  if (rows.length === 0) return null
  return (
    <Section title={title} count={rows.length < SHOWN_MAX ? rows.length : undefined}>
      <Stack gap="xs">
        {rows.map((row, index) => (
          <div key={index}>{children(row)}</div>
        ))}
      </Stack>
      {rows.length >= SHOWN_MAX && <Dimmed>Only the newest {SHOWN_MAX} are shown.</Dimmed>}
    </Section>
  )
}

function Row({ at, aside, children }: { at: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <Group gap="sm" justify="space-between">
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
      <Group gap="sm">
        {aside}
        <Dimmed>
          <Time at={at} />
        </Dimmed>
      </Group>
    </Group>
  )
}

function Dimmed({ children }: { children: ReactNode }) {
  return (
    <Text span size="xs" c="dimmed">
      {children}
    </Text>
  )
}
