import { Box, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { IconDownload, IconFile, IconRocket } from '@tabler/icons-react'
import { useState } from 'react'
import { api, type Schema } from '../../api/client.ts'
import { useWholeCursorList } from '../../list/list-page.ts'
import { StatusBadge, TrustBadge } from '../../page/badges.tsx'
import { CopyText } from '../../page/copy.tsx'
import { Link } from '../../page/link.tsx'
import { formatCount, formatPlural, formatSize } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { Section } from '../../page/sections.tsx'
import { Problem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { uploadsOfRunQuery } from '../facts/queries.ts'
import classes from './run-artifacts.module.css'

const SHOWN_FIRST = 20
const SHA_SHOWN = 12
const SHOWN_MAX = 100

type Artifact = Schema<'StoredArtifact'>

/** The files that the jobs of an attempt have declared. */
export function RunArtifacts({ org, runId, artifacts }: { org: string; runId: string; artifacts: Artifact[] }) {
  const [showsAll, setShowsAll] = useState(false)
  const uploads = useWholeCursorList(uploadsOfRunQuery(org, runId))
  if (artifacts.length === 0) return null
  const shown = showsAll ? artifacts : artifacts.slice(0, SHOWN_FIRST)
  return (
    <Section title="Artifacts" count={artifacts.length}>
      <Box component="ul" className={classes.list}>
        {shown.map((artifact) => (
          <ArtifactRow
            key={artifact.id}
            org={org}
            artifact={artifact}
            upload={uploads.rows?.find(({ artifact_id }) => artifact_id === artifact.id)}
          />
        ))}
      </Box>
      {shown.length < artifacts.length && (
        <Button variant="default" size="xs" onClick={() => setShowsAll(true)} style={{ alignSelf: 'start' }}>
          Show all {formatCount(artifacts.length)} artifacts
        </Button>
      )}
    </Section>
  )
}

type ArtifactRowProps = {
  org: string
  artifact: Artifact
  /** What became of the file, if it is a report of a scanner or a bill of materials. */
  upload: Schema<'SecurityUpload'> | undefined
}

function ArtifactRow({ org, artifact, upload }: ArtifactRowProps) {
  const { id, path, size, sha256, status, trust, job_name } = artifact
  return (
    <li className={classes.row}>
      <IconFile size={18} aria-hidden className={classes.icon} />
      <Stack gap={2} className={classes.name}>
        <Text size="sm" fw={500} lineClamp={2} title={path}>
          <bdi>{path}</bdi>
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {formatSize(size)} · <bdi>{job_name}</bdi>
          {upload && (
            <>
              {' · '}
              <Link {...pages.upload(org, upload.id)} size="xs" underline="always">
                {describeUpload(upload)}
              </Link>
            </>
          )}
        </Text>
      </Stack>
      <Group gap={10} className={classes.facts}>
        {/* A file that is there needs no badge: it has a button. */}
        {status !== 'uploaded' && <StatusBadge status={status} />}
        <TrustBadge trust={trust} />
        <CopyText text={sha256} of={`SHA-256 of ${path}`} shown={SHA_SHOWN} page={pages.digest(org, sha256)} />
      </Group>
      {status === 'uploaded' && (
        <Button
          component="a"
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          href={`/app/api/orgs/${org}/artifacts/${id}/download`}
          download
          aria-label={`Download ${path}`}
        >
          Download
        </Button>
      )}
    </li>
  )
}

function describeUpload({ status, counts }: Schema<'SecurityUpload'>): string {
  if (status !== 'finished') return 'Report'
  if (counts.findings === 0 && counts.components > 0)
    return `Bill of materials: ${formatPlural(counts.components, 'component')}`
  return `Report: ${formatPlural(counts.findings, 'finding')}`
}

/** Where a run deploys to. */
export function RunDeployments({ org, runId }: { org: string; runId: string }) {
  const query = api.useQuery('get', '/app/api/orgs/{org}/deployments', {
    params: { path: { org }, query: { run_id: runId, limit: SHOWN_MAX } },
  })
  if (query.isError)
    return <Problem error={query.error} title="The deployments could not be loaded" retry={() => query.refetch()} />
  const deployments = query.data?.data ?? []
  if (deployments.length === 0) return null
  return (
    <Section title="Deployments" count={deployments.length}>
      <Stack gap="xs">
        {deployments.map(({ id, environment, status, attempt, created_at }) => (
          <Paper key={id} p="sm">
            <Group gap="sm">
              <IconRocket size={18} aria-hidden />
              <Link {...pages.deployment(org, id)} size="sm" fw={500}>
                <bdi>{environment}</bdi>
              </Link>
              <StatusBadge status={status} />
              <Text size="xs" c="dimmed">
                Attempt {attempt} · <Time at={created_at} />
              </Text>
              <Link
                {...pages.lineage(org, id)}
                size="xs"
                ml="auto"
                aria-label={`Lineage and statements of ${environment}`}
              >
                Lineage and statements
              </Link>
            </Group>
          </Paper>
        ))}
      </Stack>
    </Section>
  )
}
