import { Box, Group, Text, Tooltip } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ToneBadge } from '../../page/badges.tsx'
import { PageTab, PageTabs } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { DEVIATION_WORDS, type Deviation } from './change-words.ts'

const TABS = [
  ['Changes', pages.changes],
  ['Lineage', pages.lineages],
  ['Signing keys', pages.keys],
] as const

/** The pages of provenance. */
export function ProvenanceTabs({ org }: { org: string }) {
  return (
    <PageTabs label="Provenance">
      {TABS.map(([label, page]) => (
        <PageTab key={label} {...page(org)} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </PageTab>
      ))}
    </PageTabs>
  )
}

/** How a change deviates from a reviewed and checked merge. Hover or focus explains each. */
export function DeviationBadges({ deviations }: { deviations: readonly Deviation[] }) {
  if (deviations.length === 0)
    return (
      <Text span size="sm" c="dimmed">
        No deviation
      </Text>
    )
  return (
    <Group gap={4}>
      {deviations.map((deviation) => (
        <Tooltip key={deviation} label={DEVIATION_WORDS[deviation][1]} multiline maw={280}>
          {/* Focusable, so that the explanation can be read without a mouse. */}
          <Box component="span" tabIndex={0} lh={1}>
            <ToneBadge tone="waiting" icon={IconAlertTriangle}>
              {DEVIATION_WORDS[deviation][0]}
            </ToneBadge>
          </Box>
        </Tooltip>
      ))}
    </Group>
  )
}
