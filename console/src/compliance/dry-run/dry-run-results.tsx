import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useOrganization } from '../../api/session.ts'
import { StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { Time } from '../../page/time.tsx'
import { type ComparedResult, subjectIdOf } from './compare-dry-runs.ts'
import classes from './dry-run-results.module.css'
import { DryRunSummary } from './dry-run-summary.tsx'
import type { DryRunOutcome } from './use-dry-run.ts'

const FILTERS = {
  all: { label: 'All', shows: () => true },
  newly_blocked: { label: 'Newly failing', shows: ({ change }: ComparedResult) => change === 'newly_blocked' },
  newly_allowed: { label: 'Newly passing', shows: ({ change }: ComparedResult) => change === 'newly_allowed' },
  failing: { label: 'Failing', shows: ({ decision }: ComparedResult) => decision === 'block' },
} as const
type Filter = keyof typeof FILTERS

/** The results of a dry run, as numbers and for each run or deployment. */
export function DryRunResults({ outcome, isOutdated }: { outcome: DryRunOutcome; isOutdated: boolean }) {
  const [filter, setFilter] = useState<Filter>('all')
  const names = (Object.keys(FILTERS) as Filter[]).filter(
    (name) => outcome.applied !== null || !name.startsWith('newly'),
  )
  const shown = outcome.results.filter(FILTERS[filter].shows)
  return (
    <Stack gap="sm">
      <DryRunSummary outcome={outcome} isOutdated={isOutdated} />
      {outcome.results.length > 0 && (
        <>
          <div className={classes.filters}>
            <SegmentedControl
              size="xs"
              aria-label="Show results"
              value={filter}
              onChange={(name) => setFilter(name as Filter)}
              data={names.map((name) => ({
                value: name,
                label: `${FILTERS[name].label} (${formatCount(outcome.results.filter(FILTERS[name].shows).length)})`,
              }))}
            />
          </div>
          <Stack component="ul" gap={0} className={classes.list} aria-label="Results of the dry run">
            {shown.map((result) => (
              <Result key={subjectIdOf(result)} result={result} />
            ))}
            {shown.length === 0 && (
              <Text component="li" size="sm" c="dimmed" p="sm">
                None.
              </Text>
            )}
          </Stack>
        </>
      )}
    </Stack>
  )
}

const DECISIONS = { approve: 'pass', warn: 'warn', block: 'fail' } as const
const CHANGES = {
  newly_blocked: 'Newly failing',
  newly_allowed: 'Newly passing',
  newly_covered: 'Newly covered',
  same: null,
} as const

function Result({ result }: { result: ComparedResult }) {
  const { decision, change, rules, newlyFailing, newlyPassing } = result
  const differences = [
    newlyFailing.length > 0 && `no longer passes: ${newlyFailing.join(', ')}`,
    newlyPassing.length > 0 && `passes now: ${newlyPassing.join(', ')}`,
  ].filter((text) => text !== false)
  return (
    <li className={classes.result}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <StatusBadge status={DECISIONS[decision]} />
        <Stack gap={2} flex={1} miw={0}>
          <Subject result={result} />
          {(CHANGES[change] || differences.length > 0) && (
            <Text size="xs" fw={500}>
              {[CHANGES[change], ...differences].filter(Boolean).join(' · ')}
            </Text>
          )}
          <details>
            <Text component="summary" size="xs" c="dimmed" className={classes.summary}>
              {formatCount(rules.length)} {rules.length === 1 ? 'rule' : 'rules'}
            </Text>
            <Stack gap={6} mt={6}>
              {rules.map(({ rule, name, status, reason, evidence }) => (
                <Group key={rule} gap="xs" align="flex-start" wrap="nowrap">
                  <StatusBadge status={status} />
                  <Text size="sm" miw={0}>
                    {name}
                    {reason !== null && status !== 'pass' && ` — ${reason}`}
                    {evidence !== null && (
                      <Text span c="dimmed" display="block" size="xs" lineClamp={6}>
                        {evidence}
                      </Text>
                    )}
                  </Text>
                </Group>
              ))}
            </Stack>
          </details>
        </Stack>
      </Group>
    </li>
  )
}

function Subject({ result: { run, deployment } }: { result: ComparedResult }) {
  const { slug: org } = useOrganization()
  const subject = run ?? deployment
  if (subject === undefined) return null
  const { id, repository, branch, created_at } = subject
  return (
    <Group gap="xs">
      {deployment ? (
        <Link {...pages.deployment(org, id)} size="sm" fw={500}>
          {deployment.environment} · {repository}
        </Link>
      ) : (
        <Link {...pages.run(org, id)} size="sm" fw={500}>
          {run?.pipeline_name} · {repository}
        </Link>
      )}
      <Text size="xs" c="dimmed">
        {branch !== null && `${branch} · `}
        <Time at={created_at} />
      </Text>
    </Group>
  )
}
