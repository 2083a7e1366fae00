// SPDX-License-Identifier: GPL-2.0-or-later
/* What a superblock gets:
 *
 *	start     if head > last: out_make_room; at = &words[head]
 *	block     at[0] = BLOCK id
 *	reference at[k] = address                           one store each
 *	exit      head += words so far, before it and at the end, if there are any
 *
 * A superblock here is straight-line code: the core is told not to follow jumps and calls, which
 * costs nothing (measured), so that a function's entry is always a superblock's start, and an
 * instruction occurs once in it. A guarded access ends its block: its word counts only if the guard
 * holds, and what comes after begins anew.
 *
 * Which accesses there are is what Valgrind's intermediate code says after its optimiser: loads
 * whose value nobody uses are gone, as in every tool of Valgrind's. */
#include "collect/valgrind/instrument.h"
#include "collect/valgrind/block.h"
#include "collect/valgrind/call.h"
#include "collect/valgrind/control.h"
#include "collect/valgrind/entry.h"
#include "collect/valgrind/modules.h"
#include "collect/valgrind/out.h"

/* Words that one instruction may write: eight guarded accesses with a block each, and some. */
#define INSTRUCTION_ROOM 64

struct pass {
	IRSB *sb;
	Int thread; /* offset of struct out_thread in the guest state */
	Int stack_pointer;
	/* Where words go now: the head from which at[0] is counted. */
	IRTemp head, at;
	UInt n_words;     /* written since head */
	UInt n_committed; /* of them */
	UInt n_room;      /* used up since the last look at the space */
	/* The block that is open, if any, and the instruction. */
	Bool open;
	UInt module;
	Addr begin; /* of the superblock, until its first block is open: where control came in */
	Addr site;
	Addr code_end;
	Bool wanted;   /* its references */
	Bool modifies; /* the store to come belongs to the load before */
};

static IRExpr *bind(struct pass *pass, IRType type, IRExpr *value)
{
	IRTemp temp = newIRTemp(pass->sb->tyenv, type);

	addStmtToIRSB(pass->sb, IRStmt_WrTmp(temp, value));
	return IRExpr_RdTmp(temp);
}

static IRExpr *word(uint64_t value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *thread_word(struct pass *pass, UInt offset)
{
	return bind(pass, Ity_I64, IRExpr_Get(pass->thread + (Int)offset, Ity_I64));
}

static IRExpr *add(struct pass *pass, IRExpr *a, uint64_t b)
{
	return b ? bind(pass, Ity_I64, IRExpr_Binop(Iop_Add64, a, word(b))) : a;
}

static IRExpr *load_head(struct pass *pass)
{
	IRExpr *pointer = thread_word(pass, offsetof(struct out_thread, head));

	return bind(pass, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, pointer));
}

/* head is known; at follows from it. */
static void point(struct pass *pass, IRTemp head)
{
	IRExpr *words = thread_word(pass, offsetof(struct out_thread, words));
	IRExpr *bytes = bind(pass, Ity_I64,
		IRExpr_Binop(Iop_Shl64, IRExpr_RdTmp(head), IRExpr_Const(IRConst_U8(3))));

	pass->head = head;
	pass->at = bind(pass, Ity_I64, IRExpr_Binop(Iop_Add64, words, bytes))->Iex.RdTmp.tmp;
	pass->n_words = pass->n_committed = 0;
}

/* A call of the tool's from generated code, with the guest state's address. */
static IRDirty *call_of(struct pass *pass, const HChar *name, void *function, IRExpr *argument)
{
	IRExpr **arguments =
		argument ? mkIRExprVec_2(IRExpr_GSPTR(), argument) : mkIRExprVec_1(IRExpr_GSPTR());
	IRDirty *call = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), arguments);

	call->nFxState = 1;
	VG_(memset)(&call->fxState, 0, sizeof(call->fxState));
	call->fxState[0].fx = Ifx_Modify;
	call->fxState[0].offset = (UShort)pass->thread;
	call->fxState[0].size = sizeof(struct out_thread);
	return call;
}

/* Sees to it that OUT_ROOM words have room. */
static void make_room(struct pass *pass)
{
	IRExpr *head = load_head(pass);
	IRExpr *last = thread_word(pass, offsetof(struct out_thread, last));
	IRDirty *call = call_of(pass, "out_make_room", out_make_room, NULL);

	call->guard = bind(pass, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, last, head));
	addStmtToIRSB(pass->sb, IRStmt_Dirty(call));
	point(pass, load_head(pass)->Iex.RdTmp.tmp);
	pass->n_room = 0;
}

static void put(struct pass *pass, IRExpr *value)
{
	IRExpr *to = add(pass, IRExpr_RdTmp(pass->at), pass->n_words * sizeof(uint64_t));

	addStmtToIRSB(pass->sb, IRStmt_Store(Iend_LE, to, value));
	pass->n_words++;
	pass->n_room++;
}

static void commit(struct pass *pass)
{
	if (pass->n_words == pass->n_committed)
		return;
	addStmtToIRSB(pass->sb,
		IRStmt_Store(Iend_LE, thread_word(pass, offsetof(struct out_thread, head)),
			add(pass, IRExpr_RdTmp(pass->head), pass->n_words)));
	pass->n_committed = pass->n_words;
}

static void open_block(struct pass *pass, UInt flags)
{
	uint64_t id = block_begin(pass->begin ? pass->begin : pass->site, pass->module, flags);

	pass->begin = 0;
	put(pass, word(loci_mark_word(LOCI_MARK_BLOCK, 0, id)));
	pass->open = True;
}

/* A guarded word was put last: it counts only if the guard holds. */
static void commit_guarded(struct pass *pass, IRExpr *guard)
{
	IRExpr *without = add(pass, IRExpr_RdTmp(pass->head), pass->n_words - 1);
	IRExpr *with = add(pass, IRExpr_RdTmp(pass->head), pass->n_words);
	IRExpr *head = bind(pass, Ity_I64, IRExpr_ITE(guard, with, without));

	addStmtToIRSB(pass->sb,
		IRStmt_Store(Iend_LE, thread_word(pass, offsetof(struct out_thread, head)), head));
	point(pass, head->Iex.RdTmp.tmp);
	pass->open = False;
}

static void reference(
	struct pass *pass, IRExpr *address, UInt bytes, enum loci_op op, UInt flags, IRExpr *guard)
{
	if (!pass->wanted)
		return;
	if (!pass->open)
		open_block(pass, 0);
	put(pass, address);
	block_add_ref(loci_ref_word(bytes, op, flags), pass->site);
	if (guard && !(guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1))
		commit_guarded(pass, guard);
}

static void on_instruction(struct pass *pass, Addr address, UInt length)
{
	pass->site = address;
	pass->code_end = address + length;
	if (pass->n_room > OUT_ROOM - INSTRUCTION_ROOM) {
		commit(pass);
		make_room(pass);
		pass->open = False;
	}
}

/* Whether the statement can touch memory. */
static Bool may_refer(const IRStmt *stmt)
{
	switch (stmt->tag) {
	case Ist_WrTmp:
		return stmt->Ist.WrTmp.data->tag == Iex_Load;
	case Ist_Store:
	case Ist_StoreG:
	case Ist_LoadG:
	case Ist_CAS:
	case Ist_LLSC:
		return True;
	case Ist_Dirty:
		return stmt->Ist.Dirty.details->mFx != Ifx_None;
	default:
		return False;
	}
}

/* The store of a read-modify-write follows its load in the same instruction and has its address and
 * size. */
static Bool is_stored_to(const IRSB *sb, Int load, const IRExpr *address, UInt bytes)
{
	Int i;

	for (i = load + 1; i < sb->stmts_used && sb->stmts[i]->tag != Ist_IMark; i++)
		if (may_refer(sb->stmts[i]))
			return sb->stmts[i]->tag == Ist_Store &&
				eqIRAtom(sb->stmts[i]->Ist.Store.addr, address) &&
				(UInt)sizeofIRType(typeOfIRExpr(
					sb->tyenv, sb->stmts[i]->Ist.Store.data)) == bytes;
	return False;
}

static UInt size_of(struct pass *pass, const IRExpr *value)
{
	return (UInt)sizeofIRType(typeOfIRExpr(pass->sb->tyenv, value));
}

static UInt vector(UInt bytes)
{
	return bytes > 8 ? LOCI_REF_VECTOR : 0;
}

static void on_dirty(struct pass *pass, const IRDirty *call)
{
	UInt bytes = (UInt)call->mSize;

	if (call->mFx == Ifx_Read || call->mFx == Ifx_Modify)
		reference(pass, call->mAddr, bytes, LOCI_OP_LOAD, 0, call->guard);
	if (call->mFx == Ifx_Write || call->mFx == Ifx_Modify)
		reference(pass, call->mAddr, bytes, LOCI_OP_STORE, 0, call->guard);
}

static void on_cas(struct pass *pass, const IRCAS *cas)
{
	UInt bytes = size_of(pass, cas->dataLo) * (cas->dataHi ? 2 : 1);
	UInt flags = LOCI_REF_ATOMIC | LOCI_REF_MODIFY;

	reference(pass, cas->addr, bytes, LOCI_OP_LOAD, flags, NULL);
	reference(pass, cas->addr, bytes, LOCI_OP_STORE, flags, NULL);
}

static void on_llsc(struct pass *pass, const IRStmt *stmt)
{
	IRExpr *data = stmt->Ist.LLSC.storedata;
	UInt bytes = data
		? size_of(pass, data)
		: (UInt)sizeofIRType(typeOfIRTemp(pass->sb->tyenv, stmt->Ist.LLSC.result));

	reference(pass, stmt->Ist.LLSC.addr, bytes, data ? LOCI_OP_STORE : LOCI_OP_LOAD,
		LOCI_REF_ATOMIC, NULL);
}

static void on_load_guarded(struct pass *pass, const IRLoadG *load)
{
	IRType wide, narrow;
	UInt bytes;

	typeOfIRLoadGOp(load->cvt, &wide, &narrow);
	bytes = (UInt)sizeofIRType(narrow);
	reference(pass, load->addr, bytes, LOCI_OP_LOAD, vector(bytes), load->guard);
}

static void on_load(struct pass *pass, const IRSB *in, Int i)
{
	const IRExpr *load = in->stmts[i]->Ist.WrTmp.data;
	UInt bytes = (UInt)sizeofIRType(load->Iex.Load.ty);

	pass->modifies = is_stored_to(in, i, load->Iex.Load.addr, bytes);
	reference(pass, load->Iex.Load.addr, bytes, LOCI_OP_LOAD,
		vector(bytes) | (pass->modifies ? LOCI_REF_MODIFY : 0), NULL);
}

static void on_store(struct pass *pass, const IRStmt *stmt)
{
	UInt bytes = size_of(pass, stmt->Ist.Store.data);

	reference(pass, stmt->Ist.Store.addr, bytes, LOCI_OP_STORE,
		vector(bytes) | (pass->modifies ? LOCI_REF_MODIFY : 0), NULL);
	pass->modifies = False;
}

static void on_statement(struct pass *pass, const IRSB *in, Int i)
{
	const IRStmt *stmt = in->stmts[i];
	UInt bytes;

	switch (stmt->tag) {
	case Ist_IMark:
		on_instruction(
			pass, stmt->Ist.IMark.addr + stmt->Ist.IMark.delta, stmt->Ist.IMark.len);
		break;
	case Ist_WrTmp:
		if (stmt->Ist.WrTmp.data->tag == Iex_Load)
			on_load(pass, in, i);
		break;
	case Ist_Store:
		on_store(pass, stmt);
		break;
	case Ist_StoreG:
		bytes = size_of(pass, stmt->Ist.StoreG.details->data);
		reference(pass, stmt->Ist.StoreG.details->addr, bytes, LOCI_OP_STORE, vector(bytes),
			stmt->Ist.StoreG.details->guard);
		break;
	case Ist_LoadG:
		on_load_guarded(pass, stmt->Ist.LoadG.details);
		break;
	case Ist_Dirty:
		on_dirty(pass, stmt->Ist.Dirty.details);
		break;
	case Ist_CAS:
		on_cas(pass, stmt->Ist.CAS.details);
		break;
	case Ist_LLSC:
		on_llsc(pass, stmt);
		break;
	case Ist_Exit:
		commit(pass);
		break;
	default:
		break;
	}
}

/* The function's frame, and whether it is one of those whose calls are told. */
static void on_entry(struct pass *pass, const struct call_kind *kind)
{
	open_block(pass, LOCI_BLOCK_ENTRY);
	put(pass, bind(pass, Ity_I64, IRExpr_Get(pass->stack_pointer, Ity_I64)));
	block_add_ref(loci_ref_word(sizeof(Addr), LOCI_OP_FRAME, 0), pass->site);
	if (!kind)
		return;
	commit(pass);
	addStmtToIRSB(
		pass->sb, IRStmt_Dirty(call_of(pass, "call_enter", call_enter, word((Addr)kind))));
	make_room(pass);
	pass->open = False;
}

static void on_return(struct pass *pass)
{
	IRDirty *call = call_of(pass, "call_return", call_return, NULL);
	IRExpr *pending = thread_word(pass, offsetof(struct out_thread, calls));

	call->guard = bind(pass, Ity_I1, IRExpr_Binop(Iop_CmpNE64, pending, word(0)));
	addStmtToIRSB(pass->sb, IRStmt_Dirty(call));
}

static Bool has_references(const IRSB *sb, Int from)
{
	Int i;

	for (i = from; i < sb->stmts_used; i++)
		if (may_refer(sb->stmts[i]))
			return True;
	return False;
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word)
{
	struct pass pass = { .sb = deepCopyIRSBExceptStmts(in),
		.thread = out_offset(layout),
		.stack_pointer = layout->offset_SP,
		.site = extents->base[0],
		.begin = extents->base[0] };
	const struct call_kind *kind = NULL;
	Bool is_entry = entry_is_at(extents->base[0], &kind);
	Int i = 0;

	(void)host;
	(void)guest_word;
	(void)host_word;
	for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		addStmtToIRSB(pass.sb, in->stmts[i]);
	pass.wanted = control_wants(pass.site) && has_references(in, i);
	pass.module = module_at(pass.site);
	block_superblock_begin(closure->nraddr);
	if (pass.wanted || is_entry)
		make_room(&pass);
	if (is_entry)
		on_entry(&pass, kind);
	for (; i < in->stmts_used; i++) {
		on_statement(&pass, in, i);
		addStmtToIRSB(pass.sb, in->stmts[i]);
	}
	commit(&pass);
	if (in->jumpkind == Ijk_Ret)
		on_return(&pass);
	if (in->jumpkind == Ijk_Call && in->next->tag == Iex_Const)
		entry_is_called(in->next->Iex.Const.con->Ico.U64);
	block_superblock_end(pass.code_end);
	return pass.sb;
}
