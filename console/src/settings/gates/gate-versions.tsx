import { List, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { QueryView } from '../../page/query-view.tsx'
import { Time } from '../../page/time.tsx'
import { type Gate, gateChanges, gateFacts } from './describe-gate.ts'
import { gateVersionsQuery } from './routes.ts'

type Version = Schema<'GateVersion'>

/** Who changed the gate, when, why, and what. Newest first. */
export function GateVersions({ gate: { id } }: { gate: Gate }) {
  const { slug: org } = useOrganization()
  const query = useQuery(gateVersionsQuery(org, id))
  return (
    <QueryView query={query} of="versions">
      {({ data: versions }) => (
        <Stack gap="sm">
          {versions.map((version, index) => (
            <VersionCard key={version.version} version={version} before={versions[index + 1]} />
          ))}
        </Stack>
      )}
    </QueryView>
  )
}

function VersionCard({ version, before }: { version: Version; before: Version | undefined }) {
  const lines = before ? gateChanges(before, version) : gateFacts(version).map(([label, value]) => `${label}: ${value}`)
  return (
    <Paper p="md" component="section" aria-label={`Version ${version.version}`}>
      <Stack gap={4}>
        <Text size="sm">
          <strong>Version {version.version}</strong>, <Time at={version.created_at} />
          {version.changed_by && ` by ${version.changed_by.name}`}
        </Text>
        {version.reason !== null && <Text size="sm">“{version.reason}”</Text>}
        <List size="sm" c="dimmed">
          {lines.map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
      </Stack>
    </Paper>
  )
}
