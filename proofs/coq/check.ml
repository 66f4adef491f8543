(* Reads a certificate and asks the checker that was extracted from the proofs: `check answer.json [N]`, with N times the
   usual work. Exit status 0 accepted, 1 refused. What is believed besides the theorems: that this file reads JSON into the types of
   Program.v, and of Tables.v, as docs/certificates.md says. *)

module B = Big_int_Z
module K = Kernel

exception Refused of string
let refuse reason = raise (Refused reason)
let need condition reason = if not condition then refuse reason

(* JSON, strict: whole numbers, printable ASCII, no name twice *)

type json = Null | Bool of bool | Int of B.big_int | Str of string | List of json list | Obj of (string * json) list

let parse text =
  let at = ref 0 and size = String.length text in
  let peek () = if !at < size then text.[!at] else '\000' in
  let bad () = refuse "this is not JSON" in
  let rec skip () = match peek () with ' ' | '\n' -> incr at; skip () | _ -> () in
  let word w v = let n = String.length w in
    if !at + n <= size && String.sub text !at n = w then (at := !at + n; v) else bad () in
  let utf8 out code =
    if code < 0x80 then Buffer.add_char out (Char.chr code)
    else if code < 0x800 then (Buffer.add_char out (Char.chr (0xC0 lor (code lsr 6)));
                               Buffer.add_char out (Char.chr (0x80 lor (code land 63))))
    else if code < 0x10000 then (Buffer.add_char out (Char.chr (0xE0 lor (code lsr 12)));
                                 Buffer.add_char out (Char.chr (0x80 lor ((code lsr 6) land 63)));
                                 Buffer.add_char out (Char.chr (0x80 lor (code land 63))))
    else (Buffer.add_char out (Char.chr (0xF0 lor (code lsr 18)));
          Buffer.add_char out (Char.chr (0x80 lor ((code lsr 12) land 63)));
          Buffer.add_char out (Char.chr (0x80 lor ((code lsr 6) land 63)));
          Buffer.add_char out (Char.chr (0x80 lor (code land 63)))) in
  let hex () =
    let value c = match c with '0'..'9' -> Char.code c - 48 | 'a'..'f' -> Char.code c - 87
                             | 'A'..'F' -> Char.code c - 55 | _ -> bad () in
    let code = ref 0 in
    for _ = 1 to 4 do code := !code * 16 + value (peek ()); incr at done; !code in
  let text_here () =
    let out = Buffer.create 16 in
    incr at;
    let rec go () = match peek () with
      | '"' -> incr at
      | '\\' ->
        incr at;
        let c = peek () in
        incr at;
        (match c with
         | '"' | '\\' | '/' -> Buffer.add_char out c
         | 'n' -> Buffer.add_char out '\n' | 't' -> Buffer.add_char out '\t' | 'r' -> Buffer.add_char out '\r'
         | 'b' -> Buffer.add_char out '\b' | 'f' -> Buffer.add_char out '\012'
         | 'u' ->
           let code = hex () in
           if code >= 0xD800 && code < 0xDC00 && !at + 1 < size && text.[!at] = '\\' && text.[!at + 1] = 'u' then begin
             let back = !at in
             at := !at + 2;
             let low = hex () in
             if low >= 0xDC00 && low < 0xE000 then utf8 out (0x10000 + ((code - 0xD800) lsl 10) + low - 0xDC00)
             else (at := back; utf8 out code)
           end else utf8 out code
         | _ -> bad ());
        go ()
      | c when c >= ' ' && c <= '~' -> Buffer.add_char out c; incr at; go ()
      | _ -> bad () in
    go (); Buffer.contents out in
  let number () =
    let from = !at in
    if peek () = '-' then incr at;
    let first = peek () in
    while (match peek () with '0'..'9' -> true | _ -> false) do incr at done;
    let digits = String.sub text from (!at - from) in
    let long = String.length digits - if digits.[0] = '-' then 1 else 0 in
    if long = 0 || (first = '0' && long > 1) then bad ();
    need (match peek () with '.' | 'e' | 'E' -> false | _ -> String.length digits <= 4000) "a number is too long, or not whole";
    Int (B.big_int_of_string digits) in
  let rec value depth =
    need (depth < 200) "this is nested too deeply";
    skip ();
    let found = match peek () with
      | '{' -> incr at; skip ();
        if peek () = '}' then (incr at; Obj []) else begin
          let names = Hashtbl.create 8 in
          let rec go found =
            skip ();
            if peek () <> '"' then bad ();
            let name = text_here () in
            need (not (Hashtbl.mem names name)) "a field stands twice";
            Hashtbl.add names name ();
            skip ();
            if peek () <> ':' then bad ();
            incr at;
            let v = value (depth + 1) in
            match peek () with
            | ',' -> incr at; go ((name, v) :: found)
            | '}' -> incr at; Obj (List.rev ((name, v) :: found))
            | _ -> bad () in
          go [] end
      | '[' -> incr at; skip ();
        if peek () = ']' then (incr at; List []) else
          let rec go found =
            let v = value (depth + 1) in
            match peek () with
            | ',' -> incr at; go (v :: found)
            | ']' -> incr at; List (List.rev (v :: found))
            | _ -> bad () in
          go []
      | '"' -> Str (text_here ())
      | 't' -> word "true" (Bool true) | 'f' -> word "false" (Bool false) | 'n' -> word "null" Null
      | _ -> number () in
    skip (); found in
  let found = value 0 in
  if !at < size then bad ();
  found

let rec printed comma colon v = match v with
  | Null -> "null" | Bool b -> string_of_bool b | Int i -> B.string_of_big_int i
  | Str s -> "\"" ^ s ^ "\""
  | List l -> "[" ^ String.concat comma (List.map (printed comma colon) l) ^ "]"
  | Obj l -> "{" ^ String.concat comma (List.map (fun (k, v) -> "\"" ^ k ^ "\"" ^ colon ^ printed comma colon v) l) ^ "}"

(* SHA-256, of FIPS 180-4 *)

let sha256 text =
  let primes = let rec go n found = if List.length found = 64 then List.rev found else
                   go (n + 1) (if List.exists (fun p -> n mod p = 0) found then found else n :: found) in go 2 [] in
  let root power p =  (* the first 32 bits of the fraction of the root of a prime *)
    let goal = B.mult_big_int (B.big_int_of_int p) (B.power_int_positive_int 2 (32 * power)) in
    let rec go low high = if B.le_big_int (B.sub_big_int high low) B.unit_big_int then low else
        let middle = B.div_big_int (B.add_big_int low high) (B.big_int_of_int 2) in
        if B.le_big_int (B.power_big_int_positive_int middle power) goal then go middle high else go low middle in
    B.int_of_big_int (B.mod_big_int (go B.zero_big_int (B.power_int_positive_int 2 42)) (B.power_int_positive_int 2 32)) in
  let k = Array.of_list (List.map (root 3) primes) in
  let h = Array.sub (Array.of_list (List.map (root 2) primes)) 0 8 in
  let mask = 0xFFFFFFFF in
  let turn x n = ((x lsr n) lor (x lsl (32 - n))) land mask in
  let size = String.length text in
  let padded = Buffer.create (size + 72) in
  Buffer.add_string padded text; Buffer.add_char padded '\x80';
  while Buffer.length padded mod 64 <> 56 do Buffer.add_char padded '\x00' done;
  for i = 7 downto 0 do Buffer.add_char padded (Char.chr (((size * 8) lsr (8 * i)) land 255)) done;
  let data = Buffer.contents padded in
  for block = 0 to String.length data / 64 - 1 do
    let w = Array.make 64 0 in
    for i = 0 to 15 do
      for j = 0 to 3 do w.(i) <- (w.(i) lsl 8) lor Char.code data.[block * 64 + i * 4 + j] done done;
    for i = 16 to 63 do
      let a = w.(i - 15) and b = w.(i - 2) in
      w.(i) <- (w.(i - 16) + (turn a 7 lxor turn a 18 lxor (a lsr 3)) + w.(i - 7)
                + (turn b 17 lxor turn b 19 lxor (b lsr 10))) land mask done;
    let v = Array.copy h in
    for i = 0 to 63 do
      let e = v.(4) and a = v.(0) in
      let t = v.(7) + (turn e 6 lxor turn e 11 lxor turn e 25) + ((e land v.(5)) lxor (lnot e land mask land v.(6))) + k.(i) + w.(i) in
      let u = (turn a 2 lxor turn a 13 lxor turn a 22) + ((a land v.(1)) lxor (a land v.(2)) lxor (v.(1) land v.(2))) in
      Array.blit v 0 v 1 7;
      v.(4) <- (v.(4) + t) land mask; v.(0) <- (t + u) land mask done;
    Array.iteri (fun i x -> h.(i) <- (h.(i) + x) land mask) v done;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") h))

(* Reading a certificate into the types of the proofs *)

let field name l = List.assoc name l
let fields v names others = match v with
  | Obj l ->
    need (List.for_all (fun n -> List.mem_assoc n l) names
          && List.for_all (fun (n, _) -> List.mem n names || List.mem n others) l) "fields are missing or unknown";
    l
  | _ -> refuse "an object is expected"
let items v = match v with List l -> l | _ -> refuse "a list is expected"
let pair v = match v with List [a; b] -> a, b | _ -> refuse "a list of another length is expected"
let small what most v = match v with
  | Int i when B.is_int_big_int i && B.int_of_big_int i >= 0 && B.int_of_big_int i <= most -> B.int_of_big_int i
  | _ -> refuse ("there is no such " ^ what)
let matches text ok = let good = ref (text <> "") in String.iteri (fun i c -> if not (ok i c) then good := false) text; !good
let is_name s = String.length s <= 21 && matches s (fun i c ->
    if i = 0 then String.contains "dsvx" c else (c >= '0' && c <= '9') || c = '_')
let is_plain s = s = "" || matches s (fun _ c -> c >= ' ' && c <= '~' && c <> '"' && c <> '\\')

let quotient s =
  let bad () = refuse "this is no ratio in lowest terms" in
  match String.index_opt s '/' with
  | None -> bad ()
  | Some at ->
    let above = String.sub s 0 at and below = String.sub s (at + 1) (String.length s - at - 1) in
    let digits t = matches t (fun i c -> (c >= '0' && c <= '9') && not (i = 0 && c = '0')) in
    let positive = if above <> "" && above.[0] = '-' then String.sub above 1 (at - 1) else above in
    if String.length s > 4000 || not (digits positive && digits below) then bad ();
    let n = B.big_int_of_string above and d = B.big_int_of_string below in
    if not (B.gt_big_int d B.unit_big_int && B.eq_big_int (B.gcd_big_int n d) B.unit_big_int) then bad ();
    n, d

let rec value ?(state = false) v = match v with
  | Null -> K.Nothing
  | Int i -> K.Number (i, B.unit_big_int)
  | Str s -> let n, d = quotient s in K.Number (n, d)
  | List l -> K.Tuple (List.map (fun each -> value each) l)
  | Obj ["undefined", Null] when state -> K.Undefined
  | Obj ["codes", List l] ->
    let codes = List.map (small "character" 0x10FFFF) l in
    need (not (List.for_all (fun c -> c >= 32 && c <= 126 && c <> 34 && c <> 92) codes)) "plain characters are written as a text";
    K.Text (List.map B.big_int_of_int codes)
  | Obj ["text", Str s] ->
    need (is_plain s) "a text of plain characters is expected";
    K.Text (List.map (fun c -> B.big_int_of_int (Char.code c)) (List.of_seq (String.to_seq s)))
  | _ -> refuse "this is no value"
let values ?(state = false) v = List.map (fun each -> value ~state each) (items v)

let whole root v = match v with
  | Int i -> if B.eq_big_int i B.zero_big_int then [] else [i]
  | List l when List.length l > 1 && root <> 0 ->
    let found = List.map (fun c -> match c with Int i -> i | _ -> refuse "this is no number") l in
    need (not (B.eq_big_int (List.nth found (List.length found - 1)) B.zero_big_int)) "this is no number";
    found
  | _ -> refuse "this is no number, or there is no T"
let ratio root v = match v with
  | Str s -> let n, d = quotient s in [n], [d]
  | Obj l -> let l = fields v ["above"; "below"] [] in whole root (field "above" l), whole root (field "below" l)
  | _ -> whole root v, [B.unit_big_int]

let distinct what l = need (List.length (List.sort_uniq compare l) = List.length l) (what ^ " stands twice")
let table reader v =
  let rows = List.map (fun row -> let key, each = pair row in key, (value key, reader each)) (items v) in
  need (rows <> []) "a table is empty";
  distinct "a value of a table" (List.map (fun (key, _) -> printed "," ":" key) rows);
  List.map snd rows

let operations = K.["add", (Add, 2); "sub", (Sub, 2); "mul", (Mul, 2); "div", (Div, 2); "floordiv", (FloorDiv, 2);
                    "mod", (Mod, 2); "min", (Min, 2); "max", (Max, 2); "lt", (Lt0, 2); "le", (Le, 2); "gt", (Gt0, 2);
                    "ge", (Ge, 2); "neg", (Neg, 1); "abs", (Abs, 1); "eq", (Eq0, 2); "ne", (Ne, 2); "not", (Not, 1);
                    "bool", (Bool, 1); "else", (Else, 2); "tuple", (MakeTuple, -1)]

let part root_int width v =
  let root = B.big_int_of_int root_int in
  let l = fields v ["reads"; "takes"; "lines"; "publishes"; "leaves"] [] in
  let known = Hashtbl.create 16 in
  let name v = match v with Str s when is_name s -> s | _ -> refuse "this is no name" in
  let names fresh v =
    let found = List.map name (items v) in
    distinct "a name" found;
    List.iter (fun x -> need (fresh || Hashtbl.mem known x) "a name has no value") found;
    found in
  let define v = let x = name v in Hashtbl.replace known x (); x in
  let operand v = match v with
    | Str s -> need (is_name s && Hashtbl.mem known s) "a name has no value"; K.Name s
    | _ -> K.Constant (value (field "value" (fields v ["value"] []))) in
  let law v = table (whole root_int) v in
  let sum law = List.fold_left (fun total (_, odds) -> K.padd total odds) [] law in
  let reads = match field "reads" l with Bool b -> b | _ -> refuse "a part reads a record, or not" in
  let takes = names true (field "takes" l) in
  List.iter (fun x -> Hashtbl.replace known x ()) takes;
  let draws = ref 0 in
  let line v = match v with
    | List [Str "input"; x; at] ->
      need reads "this part reads no record";
      let at = small "component of a record" (width - 1) at in K.Input (define x, at)
    | List [Str "draw"; x; outcomes] ->
      incr draws;
      let found = law outcomes in
      need (K.positive_at root (sum found)) "odds are zero";
      K.Draw (define x, found)
    | List [Str "draw by"; x; on; laws] ->
      incr draws;
      let on = operand on and found = table law laws in
      let total = sum (snd (List.hd found)) in
      need (K.positive_at root total
            && List.for_all (fun (_, law) -> K.pzero (K.padd total (K.popp (sum law)))) found) "odds have different sums";
      K.DrawBy (define x, on, found)
    | List [Str "case"; x; on; choices] ->
      let on = operand on in let found = table operand choices in K.Case (define x, on, found)
    | List [Str "fails"; c] -> K.Fails (operand c)
    | List [Str "observe"; c] -> K.Observe (operand c)
    | List (Str "apply" :: x :: Str kind :: args) when List.mem_assoc kind operations ->
      let operation, count = List.assoc kind operations in
      need (count < 0 || count = List.length args) "an operation has another number of values";
      let args = List.map operand args in K.Apply (define x, operation, args)
    | _ -> refuse "there is no such line, or operation" in
  let lines = List.map line (items (field "lines" l)) in
  need (!draws < 2) "a part draws twice";
  { K.reads; takes; lines; publishes = names false (field "publishes" l); leaves = names false (field "leaves" l) }

let relations = K.["replace-one", ReplaceOne; "add-remove", AddRemove; "unit-step", UnitStep; "unit-all", UnitAll]

let dataset records n v =
  let found = values v in
  need (List.length found = n && List.for_all (fun r -> List.exists (K.same r) records) found) "this is no dataset";
  found

let all_records v =
  let records = values v in
  distinct "a record" (List.map (printed "," ":") (items v));
  let width = match records with K.Tuple (_ :: _ as l) :: _ -> List.length l | _ -> refuse "records are no lists of one length" in
  need (List.for_all (fun r -> match r with K.Tuple l -> List.length l = width | _ -> false) records) "records are no lists of one length";
  records, width

let listed_pairs records n v = match v with
  | List l ->
    let pairs = List.map (fun each -> let x, y = pair each in dataset records n x, dataset records n y) l in
    need (pairs <> [] && List.for_all (fun (x, y) -> not (K.same (K.Tuple x) (K.Tuple y))) pairs) "the claim is empty, or about equal datasets";
    Some pairs
  | _ -> None

let relation_of records width listed v = if listed <> None then "replace-one" else
    let relation = match v with Str s when List.mem_assoc s relations -> s | _ -> refuse "there are no such neighbours" in
    let unit = relation = "unit-step" || relation = "unit-all" in
    need (relation = "replace-one" || width = 1) "these neighbours are for records of one component, or of one whole number";
    need (not unit || List.for_all (fun r -> match r with K.Tuple [K.Number (_, d)] -> B.eq_big_int d B.unit_big_int | _ -> false) records)
      "these neighbours are for records of one component, or of one whole number";
    relation

let positive_of_int i = B.big_int_of_int (i + 1)  (* numbers in a file count from 0, those of the proofs from 1 *)

let form root states row =
  let rec go l = match l with
    | at :: c :: rest -> (positive_of_int (small "state" (states - 1) at), whole root c) :: go rest
    | [] -> []
    | _ -> refuse "a form has another length" in
  let found = go (items row) in
  distinct "a state of a form" (List.map fst found);
  found

let cut root v =
  let l = fields v ["states"; "before"; "after"] [] in
  let states = List.map (values ~state:true) (items (field "states" l)) in
  distinct "a state" (List.map (printed "," ":") (items (field "states" l)));
  let size = List.length states in
  let keyed key f = List.map (fun (k, c) -> key k, c) f in
  let double k = B.mult_int_big_int 2 k in
  let later row = let x, y = pair row in
    keyed double (form root size x) @ keyed (fun k -> B.succ_big_int (double k)) (form root size y) in
  { K.states; befores = List.map (form root size) (items (field "before" l));
    afters = List.map later (items (field "after" l)) }

let reasons root v =
  let reason row = match items row with
    | a :: b :: o :: f :: factor :: uses ->
      let number = small "number" 4_000_000 in
      let key = List.map (fun i -> positive_of_int (number i)) [a; b; o; f] in
      let rec go l = match l with
        | j :: m :: rest -> (number j, whole root m) :: go rest
        | [] -> [] | _ -> refuse "this is no reason" in
      key, { K.factor = whole root factor; uses = go uses }
    | _ -> refuse "this is no reason" in
  let found = List.map reason (items v) in
  distinct "a reason" (List.map fst found);
  List.map (fun (key, r) -> match key with [a; b; o; f] -> K.key0 a b o f, r | _ -> refuse "this is no reason") found

let step root parts cuts v =
  let l = fields v ["part"; "before"; "after"; "outputs"; "why"] [] in
  let why = fields (field "why" l) ["before"; "across"; "after"] [] in
  let of_why name = reasons root (field name why) in
  let outputs = items (field "outputs" l) in
  distinct "an output" (List.map (printed "," ":") outputs);
  let after = small "cut" cuts (field "after" l) in
  need (after > 0) "there is no such cut";
  { K.step_part = small "part" (parts - 1) (field "part" l); step_before = small "cut" cuts (field "before" l);
    step_after = after; outputs = List.map (fun y -> values y) outputs;
    why_before = of_why "before"; why_across = of_why "across"; why_after = of_why "after" }

let about = ["unknown"; "mechanism"; "parameters"; "source"]
let claims = [  (* what a claim says, and may say; and the rule of evidence for it *)
  "privacy", (["n"; "records"; "neighbours"; "bound"; "program"], ["delta"; "error"; "attained"; "runs"; "root"] @ about, ["forms"; "datasets"]);
  "privacy of messages", (["n"; "records"; "neighbours"; "bound"; "program"], ["runs"; "root"] @ about, ["forms"; "datasets"]);
  "violation", (["n"; "records"; "neighbours"; "bound"; "program"], ["delta"; "error"; "root"] @ about, ["witness"]);
  "accuracy", (["n"; "records"; "alpha"; "beta"; "program"], ["attained"; "root"] @ about, ["datasets"]);
  "inaccuracy", (["n"; "records"; "alpha"; "beta"; "program"], ["root"] @ about, ["witness"]);
  "curve", (["n"; "records"; "neighbours"; "points"; "program"], ["error"; "attained"; "root"] @ about, ["datasets"]);
  "moment", (["n"; "records"; "neighbours"; "order"; "bound"; "program"], ["attained"; "root"] @ about, ["datasets"]);
  "larger moment", (["n"; "records"; "neighbours"; "order"; "bound"; "program"], ["error"; "root"] @ about, ["witness"]);
  "concentration", (["n"; "records"; "neighbours"; "variances"; "bound"; "program"], ["attained"; "root"] @ about, ["datasets"]);
  "larger concentration", (["n"; "records"; "neighbours"; "variances"; "bound"; "program"], ["root"] @ about, ["witness"]);
  "law", (["n"; "records"; "dataset"; "law"; "program"], ["root"] @ about, ["datasets"]);
  "efficacy", (["n"; "records"; "pairs"; "guesses"; "share"; "program"], ["root"] @ about, ["datasets"])]

let said_of claim names =
  String.concat ", " (List.filter_map (fun name ->
      if name = "attained" || not (List.mem_assoc name claim) then None else
        let text = printed ", " ": " (field name claim) in
        Some (name ^ " " ^ if String.length text <= 200 then text else "(see the file)")) names)

let rational ?(least = B.zero_big_int) ?most v =
  let n, d = match v with
    | Int i -> i, B.unit_big_int | Str s -> quotient s | _ -> refuse "a rational number is expected" in
  need (B.ge_big_int n (B.mult_big_int least d) && match most with None -> true | Some most -> B.le_big_int n (B.mult_big_int most d))
    "a number is out of its range";
  n, d

let root_of claim = match List.assoc_opt "root" claim with
  | None -> 0
  | Some v -> let d = small "root of e" 9999 v in need (d > 0) "there is no such root of e"; d

let one = [B.unit_big_int]
let ranged root_int ?(least = []) ?most v =
  let root = B.big_int_of_int root_int in
  let above p q = K.positive_at root (K.padd p (K.popp q)) in
  let up, down = ratio root_int v in
  need (K.positive_at root down && not (above (K.pmul least down) up)
        && match most with None -> true | Some most -> not (above up (K.pmul most down))) "a number is out of its range";
  up, down

(* Guarantees with how often each is given, and what they are together *)
let composed root guarantees bound delta =
  let guarantee (above, below) (lost, whole) = { K.ratio_up = above; ratio_down = below; lost_up = lost; lost_down = whole } in
  let some (t, delta, runs) =
    let runs = small "number of runs" 10_000 runs in
    need (runs > 0) "there is no such number of runs";
    let g = guarantee (ranged root ~least:one t) (ranged root ~most:one delta) in
    List.init runs (fun _ -> g) in
  need (K.check_composed (B.big_int_of_int root) (List.concat_map some guarantees)
          (guarantee (ranged root ~least:one bound) (ranged root ~most:one delta))) "the runs lose more together"

let triple v = match v with List [a; b; c] -> a, b, c | _ -> refuse "a list of another length is expected"

let composition top claim evidence rule =
  let names = ["guarantees"; "bound"; "delta"] in
  ignore (fields (Obj top) ["format"; "claim"; "evidence"] []);
  ignore (fields (Obj claim) ("question" :: names) ["root"]);
  need (rule = "responses") "this rule is not for this claim";
  ignore (fields (Obj evidence) ["rule"] []);
  composed (root_of claim) (List.map triple (items (field "guarantees" claim))) (field "bound" claim) (field "delta" claim);
  "composition: " ^ said_of claim (names @ ["root"]) ^ "; by a theorem"

let audit top claim evidence rule =
  let names = ["canaries"; "guesses"; "correct"; "options"; "guarantee"; "bound"] in
  ignore (fields (Obj top) ["format"; "claim"; "evidence"] []);
  ignore (fields (Obj claim) ("question" :: names) []);
  need (rule = "dual") "this rule is not for this claim";
  ignore (fields (Obj evidence) ["rule"; "constant"; "multipliers"] []);
  let one_unit = B.power_int_positive_int 2 256 and large = B.power_int_positive_int 2 2000 in
  let size what least name = match field name claim with
    | Int i when B.ge_big_int i (B.big_int_of_int least) && B.le_big_int i large -> i
    | _ -> refuse ("there is no such number of " ^ what) in
  let canaries = size "secrets" 1 "canaries" and options = size "options" 2 "options" in
  let guesses = small "number of guesses" 100_000_000 (field "guesses" claim) in
  need (guesses > 0 && B.le_big_int (B.big_int_of_int guesses) canaries) "there is no such number of guesses";
  let correct = small "number of right guesses" guesses (field "correct" claim) in
  need (correct > 0) "there is no such number of right guesses";
  let one = B.unit_big_int in
  let floor (n, d) = B.div_big_int n d in
  let ceil (n, d) = B.minus_big_int (B.div_big_int (B.minus_big_int n) d) in
  let units (n, d) = B.mult_big_int n one_unit, d in
  let times (n, d) (m, e) = B.mult_big_int n m, B.mult_big_int d e in
  let multipliers = List.map (fun z -> rational z) (items (field "multipliers" evidence)) in
  let guarantee = List.map (fun each -> let t, d = pair each in rational ~least:one t, rational ~most:one d) (items (field "guarantee" claim)) in
  need (guarantee <> [] && List.length guarantee = List.length multipliers) "there is one multiplier for each pair of the guarantee";
  let promises = List.map2 (fun ((t_up, t_down), d) z ->
      { K.t_up; t_down; d_up = fst d; d_down = snd d; most = floor (units z); price = ceil (units (times d z)) }) guarantee multipliers in
  let bound_up, bound_down = rational ~most:one (field "bound" claim) in
  let constant_ = floor (units (rational (field "constant" evidence))) in
  need (K.check_audit { K.canaries; options; guesses; correct; promises; one_unit; constant_; bound_up; bound_down })
    "the multipliers do not fit, or show less";
  "audit: " ^ said_of claim names ^ (if B.eq_big_int bound_up bound_down then ", which is always so" else "") ^ "; by a theorem"

let lcm a b = if B.eq_big_int a b then a else Work.mul a (Work.div b (Work.gcd a b))

(* Whole numbers that are rationals times their common denominator *)
let scaled least l =
  let common = List.fold_left (fun d (_, e) -> lcm d e) least l in
  common, fun (n, d) -> Work.mul n (Work.div common d)

let optimum top claim evidence rule =
  let names = ["measure"; "n"; "records"; "neighbours"; "groups"; "outputs"; "targets"; "keeps"; "allows"; "least"; "most"] in
  ignore (fields (Obj top) ["format"; "claim"; "evidence"] []);
  ignore (fields (Obj claim) ("question" :: names) ["alpha"; "delta"]);
  need (rule = "table") "this rule is not for this claim";
  ignore (fields (Obj evidence) ["rule"; "table"; "weights"; "multipliers"] []);
  let n = small "number of records" 10_000 (field "n" claim) in
  need (n > 0) "there is no such number of records";
  let records, width = all_records (field "records" claim) in
  let listed = listed_pairs records n (field "neighbours" claim) in
  let relation = relation_of records width listed (field "neighbours" claim) in
  Work.spend (List.length records * List.length records);
  need (listed <> None || List.exists (fun a -> List.exists (K.near (List.assoc relation relations) a) records) records)
    "the claim is empty, or about equal datasets";
  let unit = function K.Tuple [K.Number (i, _)] -> i | _ -> refuse "this is no unit" in
  let records = if relation = "unit-all" then List.sort (fun a b -> B.compare_big_int (unit a) (unit b)) records else records in
  let known = Hashtbl.create 64 in
  List.iteri (fun at r -> Hashtbl.replace known r at) records;
  let groups = List.map (fun g -> List.map (small "client" (n - 1)) (items g)) (items (field "groups" claim)) in
  need (List.sort compare (List.concat groups) = List.init n (fun i -> i) && not (List.mem [] groups)
        && (listed = None || List.length groups = n)) "the groups are not all clients once";
  let grouped x =
    let x = Array.of_list (List.map (fun r -> Hashtbl.find known r) x) in
    List.map (fun g -> List.sort compare (List.map (fun c -> x.(c)) g)) groups in
  let answers = List.map (fun each -> let x, t = pair each in grouped (dataset records n x), value t) (items (field "targets" claim)) in
  let kinds = List.length records and every = List.length answers in
  let ways size =  (* how many datasets of a group there are, up to order *)
    let rec go i found = if i > size || B.gt_big_int found (B.big_int_of_int every) then found
      else go (i + 1) (B.div_big_int (B.mult_int_big_int (kinds - 1 + i) found) (B.big_int_of_int i)) in
    go 1 B.unit_big_int in
  let sizes = List.map List.length groups in
  let all = List.fold_left (fun found size ->
      if B.gt_big_int found (B.big_int_of_int every) then found else B.mult_big_int found (ways size)) B.unit_big_int sizes in
  need (B.eq_big_int all (B.big_int_of_int every)) "the targets are not those of all datasets, up to order";
  distinct "a dataset" (List.map fst answers);
  let offered = values (field "outputs" claim) in
  let outputs = List.length offered in
  need (outputs > 0) "there are no outputs";
  let measured = match field "measure" claim with
    | Str "right answer" -> K.RightAnswer | Str "absolute error" -> K.AbsoluteError | Str "squared error" -> K.SquaredError
    | Str "accuracy" -> let up, down = rational (field "alpha" (fields (Obj claim) ["alpha"] (List.map fst claim))) in K.Accurate (up, down)
    | _ -> refuse "there is no such measure" in
  need (List.mem_assoc "alpha" claim = (field "measure" claim = Str "accuracy")) "there is no such measure";
  let one = B.unit_big_int in
  let keeps = rational ~least:one (field "keeps" claim) and allows = rational ~least:one (field "allows" claim) in
  let slack = match List.assoc_opt "delta" claim with None -> B.zero_big_int, one | Some v -> rational ~most:one v in
  need (B.le_big_int (B.mult_big_int (fst keeps) (snd allows)) (B.mult_big_int (fst allows) (snd keeps)))
    "the table keeps less than it has to";
  let any v = match v with Int i -> i, one | Str s -> quotient s | _ -> refuse "a rational number is expected" in
  let near_listed = Option.map (List.map (fun (x, y) -> grouped x, grouped y)) listed in
  let o = { K.all_records = records; near_by = List.assoc relation relations; near_listed; sizes; answers; offered; measured;
            keeps; allows; slack; least_value = any (field "least" claim); most_value = any (field "most" claim) } in
  let table = List.map (fun row -> List.map (fun p -> rational p) (items row)) (items (field "table" evidence)) in
  let weights = List.map (fun w -> rational w) (items (field "weights" evidence)) in
  let given = Hashtbl.create 64 in
  let multipliers = List.map (fun each -> match each with
      | List [x; y; output; m] ->
        let x = small "dataset" (every - 1) x and y = small "dataset" (every - 1) y in
        let output = small "output" (outputs - 1) output in
        need (not (Hashtbl.mem given (x, y, output))) "a multiplier stands twice";
        Hashtbl.replace given (x, y, output) ();
        x, y, output, rational m
      | _ -> refuse "a list of another length is expected") (items (field "multipliers" evidence)) in
  let row_total, whole_row = scaled one (List.concat table) in
  let weight_total, whole_weight = scaled one (weights @ List.map (fun (_, _, _, m) -> m) multipliers) in
  let common, _ = scaled one (List.concat_map (fun (_, t) -> List.map (fun y ->
      let _, down = K.gain_of measured y t in
      need (B.sign_big_int down > 0) "outputs and targets are no numbers";
      B.zero_big_int, down) offered) answers) in
  let pairs = Hashtbl.create 64 in
  List.iter (fun (x, y, output, m) ->
      if not (Hashtbl.mem pairs (x, y)) then begin
        Work.spend (3 * outputs + 2 * every);
        Hashtbl.replace pairs (x, y) (Array.make outputs B.zero_big_int)
      end;
      (Hashtbl.find pairs (x, y)).(output) <- whole_weight m) multipliers;
  Work.spend (every * ((every * n * kinds + n * n * kinds * kinds) / 4 + 9 * every));
  let e = { K.common; row_total; mechanism_table = List.map (List.map whole_row) table; weight_total;
            dataset_weights = List.map whole_weight weights;
            multipliers = Hashtbl.fold (fun at row l -> (at, Array.to_list row) :: l) pairs [] } in
  need (K.check_optimum o e) "the table and the multipliers show less";
  "optimum: " ^ said_of claim (names @ ["alpha"; "delta"]) ^ "; by a theorem"

let check file =
  let top = fields file ["format"; "claim"; "evidence"] ["program"; "source"] in
  need (field "format" top = Int (B.big_int_of_int 2)) "there is no such format of certificates";
  let claim = match field "claim" top with Obj l -> l | _ -> refuse "an object is expected" in
  let question = match List.assoc_opt "question" claim with Some (Str s) -> s | _ -> refuse "there is no such claim" in
  let evidence = match field "evidence" top with Obj l -> l | _ -> refuse "an object is expected" in
  let rule = match List.assoc_opt "rule" evidence with Some (Str s) -> s | _ -> refuse "there is no such rule" in
  if question = "optimum" then optimum top claim evidence rule else
  if question = "audit" then audit top claim evidence rule else
  if question = "composition" then composition top claim evidence rule else
  let law = question = "law" and efficacy = question = "efficacy" and curve = question = "curve" and accuracy = question = "accuracy" || question = "inaccuracy" and refuted = List.mem question ["violation"; "inaccuracy"; "larger moment"; "larger concentration"]
  and noisy = question = "concentration" || question = "larger concentration"
  and moment = question = "moment" || question = "larger moment" in
  let names, others, rules = try List.assoc question claims with Not_found -> refuse "there is no such claim" in
  ignore (fields (field "claim" top) ("question" :: names) others);
  need (List.mem rule rules) "this rule is not for this claim";
  let attained = List.mem_assoc "attained" claim in
  need (not attained || field "attained" claim = Bool true) "what is attained is called true";
  let shown = attained || refuted in
  ignore (fields (field "evidence" top)
            (("rule" :: if rule = "forms" then ["units"; "cuts"; "steps"; "order"] else []) @ if shown then ["witness"] else [])
            (if shown then ["event"] else []));
  let named = List.mem_assoc "source" top :: List.map (fun name -> List.mem_assoc name claim) ["mechanism"; "parameters"; "source"] in
  need (List.for_all (fun b -> b) named || not (List.exists (fun b -> b) named)) "a source has a text, a name and a hash, or there is none";
  let root = root_of claim in
  let root = match List.assoc_opt "unknown" claim with
    | None -> root
    | Some (List [Str name; least; most]) ->
      let n, d = rational least and m, e = rational most in
      need (root = 0 && String.length name <= 200 && is_plain name && B.lt_big_int (B.mult_big_int n e) (B.mult_big_int m d))
        "an unknown has a name and a range";
      -1
    | _ -> refuse "an unknown has a name and a range" in
  let messages = question = "privacy of messages" in
  let every = messages && field "n" claim = Str "all" in
  let n = if every then 0
    else let n = small "number of records" 10_000 (field "n" claim) in need (n > 0) "there is no such number of records"; n in
  let records, width = all_records (field "records" claim) in
  let among = Option.value (List.assoc_opt "neighbours" claim) ~default:Null in
  let listed = listed_pairs records n among in
  let relation = if accuracy || law || efficacy then "replace-one" else relation_of records width listed among in
  let root_int = root in
  let root = B.big_int_of_int root in
  let ranged ?least ?most v = ranged root_int ?least ?most v in
  let infinite = question = "violation" && field "bound" claim = Str "inf" in
  let beta = if accuracy then ranged ~most:one (field "beta" claim) else [], one in
  let up, down = if accuracy then beta else if efficacy then ranged ~most:one (field "share" claim)
    else if infinite || law || curve then [], one else ranged ~least:(if noisy || List.mem_assoc "delta" claim then [] else one) (field "bound" claim) in
  let delta_up, delta_down = match List.assoc_opt "delta" claim with None -> [], one | Some v -> ranged ~most:one v in
  let pure = not (K.positive_at root delta_up) in
  let program = fields (field "program" top) ["parts"; "order"] [] in
  let parts = List.map (part root_int width) (items (field "parts" program)) in
  let count = List.length parts in
  let order = List.map pair (items (field "order" program)) in
  let places = List.map (fun (i, client) -> small "part" (count - 1) i, client) order in
  let law_of =
    if every then match places with
      | [first, Null; each, Str "all"; last, Null] -> K.ForEvery (first, each, last)
      | _ -> refuse "there are other clients"
    else K.For (n, List.map (fun (i, client) -> i, (match client with Null -> None | c -> Some (small "client" (n - 1) c))) places) in
  need (places <> []) "there is no program";
  let c = { K.root; records; related = List.assoc relation relations; up; down; parts; law_of } in
  need (K.lawful c) "odds are negative";
  need (K.well_made c && (accuracy || law || efficacy || listed <> None || K.not_empty c)) "a part reads a record of nobody, or the claim is empty";
  let points = if not curve then [] else
      List.map (fun p -> let t, d = pair p in ranged ~least:one t, ranged ~most:one d) (items (field "points" claim)) in
  need (points <> [] || not curve) "a curve has no points";
  let d = { K.base = c; delta_up; delta_down; infinite; listed_pairs = listed } in
  let published = let all = Array.of_list parts in List.exists (fun (i, _) -> all.(i).K.publishes <> []) places in
  let order, parts_of_order = if not moment then 2, 1 else match field "order" claim with
    | Str s -> let p, q = quotient s in small "order" 99 (Int p), small "order" 16 (Int q)
    | v -> small "order" 99 v, 1 in
  need (order > parts_of_order) "there is no such order";
  let m () = { K.among = d; below = order - 1; most_up = up; most_down = down } in
  let alpha = if not accuracy then B.zero_big_int, B.unit_big_int else match field "alpha" claim with
    | Int i -> i, B.unit_big_int | Str s -> quotient s | _ -> refuse "a rational number is expected" in
  need (B.sign_big_int (fst alpha) >= 0) "a number is out of its range";
  need (not ((accuracy || noisy) && published)) "what is measured is published";
  let noise () = { K.noisy = d; variances = List.map rational (items (field "variances" claim));
                   rho_up = fst (rational (field "bound" claim)); rho_down = snd (rational (field "bound" claim)) } in
  let error = Option.map (rational ~most:B.unit_big_int) (List.assoc_opt "error" claim) in
  need (error = None || not (infinite || attained)) "what is known up to an error is not attained, nor infinite";
  let rooted = moment && (parts_of_order > 1 || error <> None) in
  let o d = { K.order_among = d; root_below = parts_of_order - 1; beyond = order - parts_of_order;
              lost = Option.value error ~default:(B.zero_big_int, B.unit_big_int); order_up = up; order_down = down } in
  let event_of v =
    let event = List.map (fun y -> match y with Null -> None | _ -> Some (values y)) (items v) in
    need (List.length event = List.length places) "what is published is something else";
    event in
  let all_points = if curve then points else [(up, down), (delta_up, delta_down)] in
  if shown then List.iter2 (fun pair_ ((up, down), (delta_up, delta_down)) ->
    let d = { d with base = { c with up; down }; delta_up; delta_down } in
    let pure = not (K.positive_at root delta_up) in
    let x, y = pair pair_ in
    let x = dataset records n x and y = dataset records n y in
    let event = Option.map event_of (List.assoc_opt "event" evidence) in
    need (event = None || error = None && pure && not accuracy && not moment && not curve && not noisy) "all outputs count here";
    let asked = if refuted then K.Exceeds else K.Reaches in
    need (if accuracy then K.same (K.Tuple x) (K.Tuple y) && K.check_accuracy_at c (fst alpha) (snd alpha) asked x
          else if rooted then refuted && K.check_order_exceeds (o d) x y
          else if moment then K.check_moment_at (m ()) asked x y
          else if noisy then K.check_concentration_at (noise ()) asked x y
          else if error <> None then K.check_near_exceeds d (Option.get error) ((up, down), (delta_up, delta_down)) x y
          else if asked = K.Reaches && pure && event = None then K.check_equal d x y
          else K.check_witness d asked x y event) "the witness does not show it")
      (let named = field "witness" evidence in
       if not curve then [named] else let l = items named in
         need (List.length l = List.length points) "a list of another length is expected"; l)
      all_points;
  Option.iter (fun v ->
      let runs, t, total = triple v in
      let listed = match List.assoc_opt "neighbours" claim with
        | Some (List l) -> List.map (fun p -> let x, y = pair p in printed "," ":" x, printed "," ":" y) l | _ -> [] in
      let known = Hashtbl.create 64 in
      List.iter (fun (x, y) -> Hashtbl.replace known (x ^ y) ()) listed;
      need (List.for_all (fun (x, y) -> Hashtbl.mem known (y ^ x)) listed) "a pair is listed the other way round only";
      let delta = Option.value (List.assoc_opt "delta" claim) ~default:(Int B.zero_big_int) in
      composed root_int [field "bound" claim, delta, runs] t total) (List.assoc_opt "runs" claim);
  need (rule = "forms" || not every) "this rule is not for every n";
  if rule = "forms" then begin
    need (pure && listed = None && error = None) "this rule is not for this claim";
    let cuts = List.map (cut root_int) (items (field "cuts" evidence)) in
    let steps = List.map (step root_int count (List.length cuts + 1)) (items (field "steps" evidence)) in
    let order = List.map (small "step" (List.length steps - 1)) (items (field "order" evidence)) in
    let units = match field "units" evidence with Bool b -> b | _ -> refuse "this rule is not for this claim" in
    need (K.check_forms c { K.units; cuts; steps; order }) "the forms do not show it"
  end else if efficacy then begin
    let k = small "number of guesses" n (field "guesses" claim) in
    let pairs = List.map (fun v -> match values v with [a; b] -> a, b | _ -> refuse "a list of another length is expected")
        (items (field "pairs" claim)) in
    let observes = List.exists (fun p -> List.exists (function K.Observe _ -> true | _ -> false) p.K.lines) parts in
    need (n < 40 || not observes) "checking takes more work than is allowed (N behind the file allows N times as much)";
    if observes then Work.spend (9 * (n + 1) * (List.length places + 1) lsl n);
    need (k > 0 && K.check_efficacy c pairs k) "of the guesses another share is right"
  end else if law then begin
    let row v =
      let event, p = pair v in
      List.map (fun y -> match y with Some y -> y | None -> refuse "an output is left open") (event_of event), ranged ~most:one p in
    need (K.check_law c (dataset records n (field "dataset" claim)) (List.map row (items (field "law" claim)))) "this is not the law"
  end else if rule = "datasets" then
    need (if accuracy then K.check_accuracy c (fst alpha) (snd alpha)
          else if rooted then K.check_order (o d)
          else if moment then K.check_moment (m ())
          else if noisy then K.check_concentration (noise ())
          else match error with Some e -> K.check_near d e all_points | None -> K.check_within d all_points) "the claim is wrong";
  need (field "program" claim = Str (sha256 (printed "," ":" (field "program" top)))) "this is not the program of the claim";
  if List.mem_assoc "source" top then begin
    let text = match field "source" top with Str s -> s | _ -> refuse "a source is a text" in
    need (field "source" claim = Str (sha256 text)) "this is not the source of the claim";
    let named v = match v with Str s -> String.length s <= 200 && is_plain s | _ -> false in
    need (match field "parameters" claim with
        | Obj l -> named (field "mechanism" claim) && List.for_all (fun (name, v) -> named (Str name) && named v) l
        | _ -> false) "names and parameters are of plain characters"
  end;
  let certain (p, q) = K.pzero (K.padd p (K.popp q)) in
  let always = if curve then List.for_all (fun (_, d) -> certain d) points
    else certain (if accuracy then beta else (delta_up, delta_down)) in
  question ^ ": " ^ said_of claim (names @ others) ^ (if attained then ", attained" else "") ^ (if always then ", which is always so" else "")
  ^ (match error with
      | None -> ""
      | Some e -> let short p = K.positive_at root (K.popp (fst (snd (K.shifted true e p)))) in
        "; of all laws that differ by the error at most"
        ^ if not refuted && List.exists short all_points then ", and publish nothing else" else "")
  ^ (if noisy then "; of noise on these numbers, at whole orders (between: Canonne, Kamath, Steinke 2020)" else "")
  ^ (if messages then "; an upper bound for all that is computed from the messages (post-processing)" else "")
  ^ (if published || accuracy || noisy then "" else "; nothing is published") ^ "; by a theorem"

(* Work is counted by the integers, which all loops of the checker use; and memory is looked at whenever it was swept. *)
let limited work =
  Work.left := 60_000_000 * work;
  Gc.set { (Gc.get ()) with Gc.minor_heap_size = 500_000; Gc.space_overhead = 80 };
  ignore (Gc.create_alarm (fun () -> if (Gc.quick_stat ()).Gc.heap_words > 12_000_000 * work then raise Work.Spent))

let () =
  let status, said =
    try
      let work = if Array.length Sys.argv > 2 then int_of_string Sys.argv.(2) else 1 in
      limited work;
      let channel = open_in_bin Sys.argv.(1) in
      let size = in_channel_length channel in
      need (size <= 4_000_000 * work) "the file is too large (N behind it allows N times as much)";
      let text = really_input_string channel size in
      String.iter (fun c -> need (c = '\n' || (c >= ' ' && c <= '~')) "the file has other characters than printable ASCII") text;
      0, "accepted: " ^ check (parse text)
    with
    | Refused reason -> 1, "refused: " ^ reason
    | Work.Spent | Stack_overflow | Out_of_memory ->
      1, "refused: checking takes more work than is allowed (N behind the file allows N times as much)"
    | _ -> 1, "refused: no certificate" in
  print_endline said; exit status
