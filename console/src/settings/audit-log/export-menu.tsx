import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'

const FORMATS = [
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
] as const

type ExportMenuProps = { org: string; query: Record<string, string | undefined> }

/** Downloads all entries that the filters select. The server sends the file while it reads it. */
export function ExportMenu({ org, query }: ExportMenuProps) {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const addressOf = (format: string) =>
    `/app/api/orgs/${org}/audit-log/export?${new URLSearchParams([['format', format], ...given])}`
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
        >
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMATS.map(([format, label]) => (
          <Menu.Item key={format} component="a" href={addressOf(format)} download>
            Export as {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
