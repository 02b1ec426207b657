/** Further ways to ask the same routes: for parts of, and rights on, every type of object. */
import { type Line, type Need, partsOfPrompt } from './access-table.ts'
import type { World } from './access-world.ts'

type Variant = readonly [route: string, line: Line]

/** Types that rights are given on, with the kind of thing that has such an id. */
const placesOfRights = [
  ['experiment', 'experiment'],
  ['dataset', 'dataset'],
  ['prompt', 'prompt'],
  ['prompt_session', 'prompt_session'],
  ['project_log', 'project'],
  ['group', 'group'],
  ['role', 'role'],
] as const

/** What a right on a type is checked as. */
const checkedAs = (type: string) => (type === 'project_log' ? 'project_log' : type)

function ofRights(type: string, kind: string): Variant[] {
  const acl = (id: string, world: World) => ({
    object_type: type,
    object_id: id,
    group_id: world.things.get('group')!.id,
    permission: 'read',
  })
  const giving: Need[] = [
    ['create_acls', checkedAs(type)],
    ['read_acls', checkedAs(type)],
  ]
  const line = (needs: readonly Need[], ask: Line['ask'], more: Partial<Line> = {}): Line => ({
    about: kind === 'project' ? 'project_log' : kind,
    needs,
    ask,
    ...more,
  })
  return [
    [
      'POST /v1/acl',
      line(giving, ({ id, world }) => ({ body: acl(id, world) }), { destroys: true }),
    ],
    [
      'POST /v1/acl/batch_update',
      line(giving, ({ id, world }) => ({ body: { add_acls: [acl(id, world)] } }), {
        destroys: true,
      }),
    ],
    [
      'DELETE /v1/acl',
      line([['delete_acls', checkedAs(type)]], ({ id, world }) => ({ body: acl(id, world) }), {
        destroys: true,
      }),
    ],
    [
      'GET /v1/acl',
      line([['read_acls', checkedAs(type)]], ({ id }) => ({
        path: `/v1/acl?object_type=${type}&object_id=${id}`,
      })),
    ],
    [
      'GET /session/rights',
      {
        about: kind === 'project' ? 'project_log' : kind,
        needs: 'anyone',
        filters: true,
        ask: ({ id }) => ({ path: `/session/rights?object_type=${type}&object_id=${id}` }),
      },
    ],
  ]
}

/** Types that views are made of, other than projects. */
const placesOfViews = ['experiment', 'dataset', 'prompt', 'prompt_session'] as const

function ofViews(type: string): Variant[] {
  const view = (id: string) => ({ object_type: type, object_id: id, view_type: 'logs' })
  return [
    [
      'GET /v1/view',
      {
        about: type,
        needs: 'anyone',
        filters: true,
        ask: ({ id }) => ({ path: `/v1/view?object_type=${type}&object_id=${id}` }),
      },
    ],
    ...['POST', 'PUT'].map(
      (method): Variant => [
        `${method} /v1/view`,
        {
          about: type,
          needs: [
            ['update', type],
            ['read', type],
          ],
          destroys: true,
          ask: ({ id, name }) => ({ body: { ...view(id), name } }),
        },
      ],
    ),
  ]
}

/** Variables of a function. */
const ofVariables: readonly Variant[] = [
  [
    'GET /v1/env_var',
    {
      about: 'function',
      needs: 'anyone',
      filters: true,
      ask: ({ id }) => ({ path: `/v1/env_var?object_type=function&object_id=${id}` }),
    },
  ],
  ...['POST', 'PUT'].map(
    (method): Variant => [
      `${method} /v1/env_var`,
      {
        about: 'function',
        needs: [
          ['update', 'function'],
          ['read', 'function'],
        ],
        destroys: true,
        ask: ({ id, name }) => ({
          body: { object_type: 'function', object_id: id, name, value: 'v' },
        }),
      },
    ],
  ),
]

export const accessVariants: readonly Variant[] = [
  ...placesOfRights.flatMap(([type, kind]) => ofRights(type, kind)),
  ...placesOfViews.flatMap(ofViews),
  ...ofVariables,
  ...partsOfPrompt.flatMap((table) => Object.entries(table)),
]
