import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { IconDownload, IconFile } from '@tabler/icons-react'
import { useState } from 'react'
import type { Schema } from '../api/client.ts'
import { StatusBadge } from '../page/badges.tsx'
import { CopyText } from '../page/copy-text.tsx'
import { formatCount, formatSize } from '../page/numbers.ts'
import { Section } from '../page/section.tsx'
import { TrustBadge } from '../page/trust-badge.tsx'
import classes from './run-artifacts.module.css'

type Artifact = Schema<'StoredArtifact'>

const SHOWN_FIRST = 20
const SHA_SHOWN = 12

/** The files that the jobs of an attempt have declared. */
export function RunArtifacts({ org, artifacts }: { org: string; artifacts: Artifact[] }) {
  const [showsAll, setShowsAll] = useState(false)
  if (artifacts.length === 0) return null
  const shown = showsAll ? artifacts : artifacts.slice(0, SHOWN_FIRST)
  return (
    <Section title="Artifacts" count={artifacts.length}>
      <Box component="ul" className={classes.list}>
        {shown.map((artifact) => (
          <ArtifactRow key={artifact.id} org={org} artifact={artifact} />
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

function ArtifactRow({ org, artifact }: { org: string; artifact: Artifact }) {
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
        </Text>
      </Stack>
      <Group gap={10} className={classes.facts}>
        {/* A file that is there needs no badge: it has a button. */}
        {status !== 'uploaded' && <StatusBadge status={status} />}
        <TrustBadge trust={trust} />
        <CopyText text={sha256} of={`SHA-256 of ${path}`} shown={SHA_SHOWN} />
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
