import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { Time } from '../../page/time.tsx'
import type { PolicyBase } from '../editor/use-draft.ts'

type VersionConflictProps = {
  /** Null for a new policy, whose name is taken. */
  policyId: string | null
  onRebase: (base: PolicyBase) => void
}

/** Somebody has applied another version since the file was opened. */
export function VersionConflict({ policyId, onRebase }: VersionConflictProps) {
  return (
    <Alert color="yellow" role="alert" icon={<IconAlertTriangle />} title="The policy has been changed meanwhile">
      {policyId === null ? (
        <Text size="sm">A policy with this name exists. Change the name in the file, or edit that policy.</Text>
      ) : (
        <OtherVersion policyId={policyId} onRebase={onRebase} />
      )}
    </Alert>
  )
}

function OtherVersion({ policyId, onRebase }: VersionConflictProps & { policyId: string }) {
  const { slug: org } = useOrganization()
  const { data } = api.useQuery(
    'get',
    '/app/api/orgs/{org}/policies/{id}',
    { params: { path: { org, id: policyId } } },
    { staleTime: 0 },
  )
  if (data === undefined) return <Text size="sm">Reading the other version.</Text>
  const { version, updated_at, changed_by, reason, current } = data.data
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">
        {changed_by?.name ?? 'Somebody'} applied version {version} <Time at={updated_at} />
        {reason !== null && ` (“${reason}”)`}. Compare your text with it before you apply yours over it.
      </Text>
      <Group>
        <Button size="xs" variant="default" onClick={() => onRebase({ version, file: current.file ?? '' })}>
          Compare with version {version}
        </Button>
      </Group>
    </Stack>
  )
}
