import { Alert, Group, Stack, Table, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react'
import { ToneBadge } from '../../page/badges.tsx'
import { formatCount } from '../../page/numbers.ts'
import type { DryRunOutcome } from './use-dry-run.ts'

/** What the file decides, and what it would change, in numbers and words. */
export function DryRunSummary({ outcome, isOutdated }: { outcome: DryRunOutcome; isOutdated: boolean }) {
  const { tried } = outcome
  return (
    <Stack gap="sm">
      {isOutdated && (
        <Notice>The file has changed since this dry run. Start it again to see the results of the new text.</Notice>
      )}
      {!tried.is_complete && <Notice>The dry run ended early after 15 seconds. Not everything was evaluated.</Notice>}
      <Stack gap={6} role="status">
        <Group gap="xs">
          <ToneBadge tone="success" icon={IconCircleCheck}>{`${formatCount(tried.decisions.approve)} pass`}</ToneBadge>
          <ToneBadge tone="waiting" icon={IconAlertTriangle}>{`${formatCount(tried.decisions.warn)} warn`}</ToneBadge>
          <ToneBadge tone="failure" icon={IconCircleX}>{`${formatCount(tried.decisions.block)} fail`}</ToneBadge>
        </Group>
        <Text size="sm">{describeChange(outcome)}</Text>
        {tried.mode === 'monitor' && (
          <Text size="sm" c="dimmed">
            The policy only monitors: it reports failures and blocks nothing.
          </Text>
        )}
      </Stack>
      {tried.rules.length > 0 && <RuleCounts rules={tried.rules} />}
    </Stack>
  )
}

function Notice({ children }: { children: string }) {
  return (
    <Alert variant="light" color="yellow" icon={<IconInfoCircle />} py="xs">
      <Text size="sm">{children}</Text>
    </Alert>
  )
}

/** "Against the applied version, 3 of 50 runs newly fail and 1 newly passes." */
function describeChange({ results, applied, subject }: DryRunOutcome): string {
  const total = results.length
  const noun = total === 1 ? subject.slice(0, -1) : subject
  if (total === 0) return `The policy covers none of the last ${subject}.`
  if (applied === null) return `${formatCount(total)} ${noun} evaluated.`
  const count = (change: string) => results.filter((result) => result.change === change).length
  const [failing, passing, covered] = [count('newly_blocked'), count('newly_allowed'), count('newly_covered')]
  const parts = [
    failing > 0 && `${formatCount(failing)} newly ${failing === 1 ? 'fails' : 'fail'}`,
    passing > 0 && `${formatCount(passing)} newly ${passing === 1 ? 'passes' : 'pass'}`,
    covered > 0 && `${formatCount(covered)} newly covered`,
  ].filter((part) => part !== false)
  const evaluated = `${formatCount(total)} ${noun} evaluated.`
  if (parts.length === 0) return `${evaluated} Against the applied version, no result changes.`
  return `${evaluated} Against the applied version, ${new Intl.ListFormat('en').format(parts)}.`
}

function RuleCounts({ rules }: { rules: DryRunOutcome['tried']['rules'] }) {
  return (
    <Table.ScrollContainer minWidth={280} type="native">
      <Table aria-label="Results by rule" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Rule</Table.Th>
            <Table.Th ta="end">Pass</Table.Th>
            <Table.Th ta="end">Fail</Table.Th>
            <Table.Th ta="end">Warning</Table.Th>
            <Table.Th ta="end">Error</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rules.map(({ rule, pass, fail, warn, error }) => (
            <Table.Tr key={rule}>
              <Table.Td>{rule}</Table.Td>
              {[pass, fail, warn, error].map((count, index) => (
                <Table.Td key={`${rule} ${['pass', 'fail', 'warn', 'error'][index]}`} ta="end">
                  {formatCount(count)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
