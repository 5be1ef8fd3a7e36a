import { Box, Button, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { IconChevronDown, IconChevronRight, IconCircleX } from '@tabler/icons-react'
import { useState } from 'react'
import { SeverityBadge, type Tone } from '../../page/badges.tsx'
import { formatCount, formatPercent } from '../../page/numbers.ts'
import { TextBlock } from '../../page/text-block.tsx'
import { formatDuration } from '../../page/time.tsx'
import { type Data, failuresIn, flakyIn, numberIn, slowestIn, type TestFailure, textIn } from './attestation-data.ts'

const SHOWN_FIRST = 10

const MEASURES = [
  ['lines', 'Lines'],
  ['branches', 'Branches'],
  ['functions', 'Functions'],
  ['statements', 'Statements'],
] as const

const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

/** The result of tests: how many, which failed and why, and the slowest where they are known. */
export function TestResults({ data }: { data: Data }) {
  const [showsAll, setShowsAll] = useState(false)
  const failures = failuresIn(data)
  const slowest = slowestIn(data)
  const seconds = numberIn(data, 'durationSeconds')
  const flaky = numberIn(data, 'flaky') ?? 0
  const flakyNames = flakyIn(data)
  const shown = showsAll ? failures : failures.slice(0, SHOWN_FIRST)
  return (
    <Stack gap="sm">
      <ShareBar parts={countsOf(data)} />
      {seconds !== null && (
        <Text size="xs" c="dimmed">
          Took {formatDuration(seconds)}
        </Text>
      )}
      {flaky > 0 && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {formatCount(flaky)} of the passed tests failed in an earlier try
          {flakyNames.length > 0 && (
            <>
              : <bdi>{flakyNames.slice(0, SHOWN_FIRST).join(', ')}</bdi>
              {flaky > Math.min(flakyNames.length, SHOWN_FIRST) && ' and others'}
            </>
          )}
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

/** How much of the code the tests reach, with the threshold that the lines must reach. */
export function Coverage({ data }: { data: Data }) {
  const threshold = numberIn(data, 'threshold')
  return (
    <Stack gap={8} maw={560}>
      {MEASURES.map(([key, label]) => {
        const percent = numberIn(data, key)
        return percent === null ? null : (
          <Measure key={key} label={label} percent={percent} threshold={key === 'lines' ? threshold : null} />
        )
      })}
    </Stack>
  )
}

type MeasureProps = { label: string; percent: number; threshold: number | null }

function Measure({ label, percent, threshold }: MeasureProps) {
  const isBelow = threshold !== null && percent < threshold
  return (
    <Box>
      <Group justify="space-between">
        <Text size="sm">{label}</Text>
        <Text size="sm">
          <b>{formatPercent(percent / 100)}</b>
          {threshold !== null && (
            <Text span size="xs" c={isBelow ? 'var(--shiplock-failure)' : 'dimmed'}>
              {` ${isBelow ? 'below' : 'at least'} ${formatPercent(threshold / 100)}`}
            </Text>
          )}
        </Text>
      </Group>
      <Progress
        mt={4}
        size={8}
        value={percent}
        color={isBelow ? 'var(--shiplock-failure)' : 'var(--shiplock-success)'}
        aria-label={`${label} covered`}
      />
    </Box>
  )
}

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

type ShareBarProps = { parts: readonly { label: string; count: number; tone: Tone }[] }

/** Counts as parts of a bar, each with its number and name below. */
function ShareBar({ parts }: ShareBarProps) {
  const shown = parts.filter(({ count }) => count > 0)
  return (
    <Box>
      <Group gap={2} wrap="nowrap" h={8} aria-hidden style={{ overflow: 'hidden', borderRadius: 4 }}>
        {shown.map(({ label, count, tone }) => (
          <Box key={label} h="100%" miw={3} bg={`var(--shiplock-${tone})`} style={{ flex: `${count} 1 0` }} />
        ))}
        {shown.length === 0 && <Box h="100%" flex={1} bg="var(--shiplock-border)" />}
      </Group>
      <Group gap="md" mt={6} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {parts.map(({ label, count, tone }) => (
          <Group key={label} gap={6} component="li">
            <Box w={8} h={8} bg={`var(--shiplock-${tone})`} style={{ borderRadius: 2 }} aria-hidden />
            <Text size="sm" c={count === 0 ? 'dimmed' : undefined}>
              <b>{formatCount(count)}</b> {label}
            </Text>
          </Group>
        ))}
      </Group>
    </Box>
  )
}

/** Data of no known shape, as JSON that is shown on request. */
export function JsonView({ label, value }: { label: string; value: unknown }) {
  const [isShown, setShown] = useState(false)
  const Chevron = isShown ? IconChevronDown : IconChevronRight
  return (
    <Stack gap="xs" align="stretch">
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        leftSection={<Chevron size={14} aria-hidden />}
        aria-expanded={isShown}
        onClick={() => setShown(!isShown)}
        style={{ alignSelf: 'start' }}
      >
        {label}
      </Button>
      {isShown && <TextBlock label={label} text={JSON.stringify(value, null, 2)} maxHeight={420} />}
    </Stack>
  )
}
