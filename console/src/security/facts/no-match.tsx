import { Button } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { Empty } from '../../page/states.tsx'

/** No row matches the filters. `of` is what is listed, in the plural. */
export function NoMatch({ of, onClear }: { of: string; onClear: () => void }) {
  return (
    <Empty
      icon={IconFilterOff}
      title={`No ${of} match the filters`}
      actions={
        <Button variant="default" onClick={onClear}>
          Show all {of}
        </Button>
      }
    >
      Choose fewer filters, or other ones.
    </Empty>
  )
}
