import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { Schema } from '../api/client.ts'
import { formatCount } from '../page/numbers.ts'
import { TextBlock } from '../page/text-block.tsx'
import { byKind, kindLook } from './reports/attestation-kinds.ts'
import type { Report } from './reports/report-card.tsx'
import classes from './run-failure.module.css'

type RunFailureProps = {
  run: Pick<Schema<'PipelineRun'>, 'failure_category' | 'failure_excerpt' | 'failure_recurrence'>
  /** The reports of the attempt. */
  reports: Report[]
}

const CATEGORIES: Record<string, string> = {
  test: 'Tests failed',
  build: 'The build failed',
  lint: 'A linter found problems',
  dependency: 'Dependencies could not be installed',
  timeout: 'A job took too long',
  infrastructure: 'The machine or the network failed',
  cancelled: 'It was cancelled',
  unknown: 'The cause is not known',
}
const NAMED_MAX = 8

/** Why an attempt failed: the category, what failed in the reports, and the end of the log. */
export function RunFailure({ run, reports }: RunFailureProps) {
  const { failure_category: category, failure_excerpt: excerpt, failure_recurrence: recurrence } = run
  const failed = reports.flatMap((report) =>
    byKind(report.attestations)
      .filter(({ status }) => status === 'fail')
      .map((attestation) => ({ report, attestation })),
  )
  if (category === null && excerpt === null && failed.length === 0) return null
  return (
    <Paper component="section" aria-labelledby="run-failure" className={classes.failure}>
      <Stack gap="sm">
        <Group gap={8}>
          <IconAlertTriangle size={18} aria-hidden color="var(--shiplock-failure)" />
          <Title order={2} id="run-failure">
            {CATEGORIES[category ?? ''] ?? 'What failed'}
          </Title>
          {recurrence !== null && recurrence > 1 && (
            <Text span size="sm" c="dimmed">
              {formatCount(recurrence)} times in a row on this branch
            </Text>
          )}
        </Group>
        {failed.length > 0 && (
          <Stack gap={4} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
            {failed.slice(0, NAMED_MAX).map(({ report, attestation: { id, kind, name } }) => (
              <Text key={id} size="sm" component="li" lineClamp={2}>
                <Anchor href={`#report-${report.id}`} size="sm" underline="always">
                  {kindLook(kind).label} <bdi>{name}</bdi>
                </Anchor>{' '}
                in <bdi>{report.job.name}</bdi>
              </Text>
            ))}
            {failed.length > NAMED_MAX && (
              <Text size="sm" c="dimmed" component="li">
                and {formatCount(failed.length - NAMED_MAX)} more
              </Text>
            )}
          </Stack>
        )}
        {excerpt && <TextBlock label="End of the log" text={excerpt} />}
      </Stack>
    </Paper>
  )
}
