/**
 * Tasks on their way to another thread. A message is written anew for each task, and read anew by each thread: of 178
 * inputs that are objects that takes 73 and 139 µs, of as many that are numbers 2 and 2. A plan goes as bytes that are
 * made once, and a thread that has read them before keeps what it has read.
 */
import { deserialize, serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import { assert } from '../../error.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { AnswerTask, ScanTask, Task, TaskInput, UnifyTask } from './task.ts'

interface PackedPlan {
  /** Of one thread's plans; all tasks of another thread come from the same one. */
  readonly id: number
  readonly bytes: Uint8Array
}

interface PackedInputs {
  /**
   * For each input of columns its segment or `inPart`, object, first row, end, 1 where some rows may be newer, and its
   * part; of others `elsewhere` and which.
   */
  readonly numbers: Int32Array
  /** Of the parts, in their order. */
  readonly memories: readonly SharedArrayBuffer[]
  readonly others: readonly TaskInput[]
}

type Packed<T extends Task> = T extends AnswerTask
  ? Omit<T, 'scan'> & { readonly scan: Packed<ScanTask> }
  : T extends ScanTask
    ? Omit<T, 'plan' | 'inputs'> & { readonly plan: PackedPlan; readonly inputs: PackedInputs }
    : T extends UnifyTask
      ? T
      : Omit<T, 'plan'> & { readonly plan: PackedPlan }

export type PackedTask = Packed<Task>

export function packTask(task: Task): PackedTask {
  switch (task.kind) {
    case 'unify':
      return task
    case 'answer':
      return { ...task, scan: packScan(task.scan) }
    case 'scan':
      return packScan(task)
    default:
      return { ...task, plan: packPlan(task.plan) }
  }
}

/** What `packTask` was given. Its plan may be one that other tasks were given, too. */
export function unpackTask(task: PackedTask): Task {
  switch (task.kind) {
    case 'unify':
      return task
    case 'answer':
      return { ...task, scan: unpackScan(task.scan) }
    case 'scan':
      return unpackScan(task)
    default:
      return { ...task, plan: unpackPlan(task.plan) }
  }
}

function packScan(task: ScanTask): Packed<ScanTask> {
  return { ...task, plan: packPlan(task.plan), inputs: packInputs(task.inputs) }
}

function unpackScan(task: Packed<ScanTask>): ScanTask {
  return { ...task, plan: unpackPlan(task.plan), inputs: unpackInputs(task.inputs) }
}

const packedPlans = new WeakMap<PhysicalPlan, PackedPlan>()
let lastPlan = 0

function packPlan(plan: PhysicalPlan): PackedPlan {
  let packed = packedPlans.get(plan)
  if (!packed) {
    // A copy, as a view takes all the memory along that it is of.
    packed = { id: ++lastPlan, bytes: Uint8Array.from(serialize(plan)) }
    packedPlans.set(plan, packed)
  }
  return packed
}

/** Plans that a thread keeps, by the bytes that they came as: lists of many ids are long. */
const keptPlanBytes = 2 ** 20
const readPlans = new LRUCache<number, PhysicalPlan>({ maxSize: keptPlanBytes })

function unpackPlan({ id, bytes }: PackedPlan): PhysicalPlan {
  const known = readPlans.get(id)
  if (known) return known
  const plan = deserialize(bytes) as PhysicalPlan
  readPlans.set(id, plan, { size: bytes.length })
  return plan
}

const numbersOfInput = 6
/** In place of a segment's number, which is from 0 on. */
const [elsewhere, inPart] = [-1, -2]

function packInputs(inputs: readonly TaskInput[]): PackedInputs {
  const numbers = new Int32Array(inputs.length * numbersOfInput)
  const memories: SharedArrayBuffer[] = []
  const others: TaskInput[] = []
  for (const [i, input] of inputs.entries()) {
    const at = i * numbersOfInput
    if (input.kind !== 'segment' && input.kind !== 'memtable') {
      numbers[at] = elsewhere
      numbers[at + 1] = others.length
      others.push(input)
      continue
    }
    numbers[at] = input.kind === 'segment' ? input.segment : inPart
    numbers[at + 1] = input.object
    numbers[at + 2] = input.from
    numbers[at + 3] = input.to
    numbers[at + 4] = input.mayBeNewer ? 1 : 0
    if (input.kind === 'segment') continue
    numbers[at + 5] = input.memtable
    memories.push(input.memory)
  }
  return { numbers, memories, others }
}

function unpackInputs({ numbers, memories, others }: PackedInputs): TaskInput[] {
  const inputs: TaskInput[] = []
  let parts = 0
  for (let at = 0; at < numbers.length; at += numbersOfInput) {
    const segment = numbers[at]!
    if (segment === elsewhere) {
      const other = others[numbers[at + 1]!]
      assert(other, 'a task came without one of its inputs')
      inputs.push(other)
      continue
    }
    const rows = {
      object: numbers[at + 1]!,
      from: numbers[at + 2]!,
      to: numbers[at + 3]!,
      mayBeNewer: numbers[at + 4] === 1,
    }
    if (segment !== inPart) {
      inputs.push({ kind: 'segment', segment, ...rows })
      continue
    }
    const memory = memories[parts++]
    assert(memory, 'a task came without the memory of one of its parts')
    inputs.push({ kind: 'memtable', memtable: numbers[at + 5]!, memory, ...rows })
  }
  return inputs
}
