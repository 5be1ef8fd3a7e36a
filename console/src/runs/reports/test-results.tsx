import { Box, Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconCircleX } from '@tabler/icons-react'
import { useState } from 'react'
import { formatCount } from '../../page/numbers.ts'
import { TextBlock } from '../../page/text-block.tsx'
import { formatDuration } from '../../page/time.tsx'
import { type Data, failuresIn, numberIn, slowestIn, type TestFailure } from './attestation-data.ts'
import { ShareBar } from './share-bar.tsx'

const SHOWN_FIRST = 10

/** The result of tests: how many, which failed and why, and the slowest where they are known. */
export function TestResults({ data }: { data: Data }) {
  const [showsAll, setShowsAll] = useState(false)
  const failures = failuresIn(data)
  const slowest = slowestIn(data)
  const seconds = numberIn(data, 'durationSeconds')
  const shown = showsAll ? failures : failures.slice(0, SHOWN_FIRST)
  return (
    <Stack gap="sm">
      <ShareBar parts={countsOf(data)} />
      {seconds !== null && (
        <Text size="xs" c="dimmed">
          Took {formatDuration(seconds)}
        </Text>
      )}
      {failures.length > 0 && (
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Failed tests">
          {shown.map((failure, index) => (
            <FailedTest key={index} failure={failure} />
          ))}
        </Stack>
      )}
      {shown.length < failures.length && (
        <Button size="xs" variant="default" onClick={() => setShowsAll(true)} style={{ alignSelf: 'start' }}>
          Show all {formatCount(failures.length)} failed tests
        </Button>
      )}
      {slowest.length > 0 && (
        <Box>
          <Title order={4} fz="xs" c="dimmed" fw={500}>
            Slowest tests
          </Title>
          {slowest.map(({ name, seconds }, index) => (
            <Group key={index} justify="space-between" wrap="nowrap" gap="sm">
              <Text size="sm" truncate title={name}>
                <bdi>{name}</bdi>
              </Text>
              <Text size="sm" c="dimmed" style={{ flex: 'none' }}>
                {formatDuration(seconds)}
              </Text>
            </Group>
          ))}
        </Box>
      )}
    </Stack>
  )
}

function FailedTest({ failure: { name, suite, message } }: { failure: TestFailure }) {
  return (
    <li>
      <Group gap={8} wrap="nowrap" align="flex-start">
        <Box c="var(--shiplock-failure)" pt={2} style={{ flex: 'none' }}>
          <IconCircleX size={15} aria-label="Failed" role="img" />
        </Box>
        <Stack gap={4} flex={1} miw={0}>
          <Text size="sm" fw={500} lineClamp={3}>
            <bdi>{name}</bdi>
            {suite && (
              <Text span size="xs" c="dimmed" fw={400}>
                {' '}
                <bdi>{suite}</bdi>
              </Text>
            )}
          </Text>
          {message && <TextBlock label={`Message of ${name.slice(0, 100)}`} text={message} maxHeight={220} />}
        </Stack>
      </Group>
    </li>
  )
}

function countsOf(data: Data) {
  return [
    { label: 'passed', count: numberIn(data, 'passed') ?? 0, tone: 'success' },
    { label: 'failed', count: numberIn(data, 'failed') ?? 0, tone: 'failure' },
    { label: 'errors', count: numberIn(data, 'errors') ?? 0, tone: 'high' },
    { label: 'skipped', count: numberIn(data, 'skipped') ?? 0, tone: 'neutral' },
  ] as const
}
