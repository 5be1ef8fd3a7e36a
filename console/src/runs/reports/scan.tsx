import { Group, Stack, Text } from '@mantine/core'
import { SeverityBadge } from '../../page/badges.tsx'
import { formatCount } from '../../page/numbers.ts'
import { type Data, numberIn, textIn } from './attestation-data.ts'

const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

/** What a scanner has found, by severity. */
export function Scan({ data }: { data: Data }) {
  const [tool, failOn, artifact] = [textIn(data, 'tool'), textIn(data, 'failOn'), textIn(data, 'artifact')]
  const counts = SEVERITIES.map((severity) => [severity, numberIn(data, severity)] as const)
  return (
    <Stack gap={6}>
      {counts.every(([, count]) => count === null) ? (
        <Text size="sm" c="dimmed">
          The file has not been read yet.
        </Text>
      ) : (
        <Group gap="md">
          {counts.map(([severity, count]) =>
            count === 0 ? (
              <Text key={severity} size="sm" c="dimmed">
                0 {severity}
              </Text>
            ) : (
              <Group key={severity} gap={6}>
                <SeverityBadge severity={severity} />
                <Text size="sm" fw={500}>
                  {count === null ? 'unknown' : formatCount(count)}
                </Text>
              </Group>
            ),
          )}
        </Group>
      )}
      <Text size="xs" c="dimmed">
        {[tool && `Scanner ${tool}`, failOn && `fails from ${failOn}`, artifact].filter(Boolean).join(' · ')}
      </Text>
    </Stack>
  )
}
