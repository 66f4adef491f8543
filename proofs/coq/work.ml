(* The integers of zarith for those of Coq, with work counted before it is spent: the same on every machine. *)

exception Spent
let left = ref max_int
let spend n = left := !left - n; if !left < 0 then raise Spent

let size a = Z.size a
let longest = 1 lsl 20  (* words of a number *)
let add a b = spend (2 + max (size a) (size b)); Z.add a b
let sub a b = spend (2 + max (size a) (size b)); Z.sub a b
let mul a b =
  let n = size a and m = size b in
  if n + m > longest then raise Spent;
  spend (2 + n * m); Z.mul a b
let opp a = spend 1; Z.neg a
let equal a b = spend 1; Z.equal a b
let compare a b = spend 1; Z.compare a b
let div a b = spend (4 + size a * size b); if Z.equal b Z.zero then Z.zero else Z.fdiv a b
let modulo a b = spend (4 + size a * size b); if Z.equal b Z.zero then a else Z.sub a (Z.mul b (Z.fdiv a b))
let gcd a b = spend (4 + size a * size b); Z.gcd a b
let odd a = Z.succ (Z.shift_left a 1)
let even a = Z.shift_left a 1
let positive odd even one a =
  spend 1;
  if Z.leq a Z.one then one () else (if Z.testbit a 0 then odd else even) (Z.shift_right a 1)
let same_name (a : string) b = spend 1; String.equal a b

(* Keeps what a function gave, the last four for every hash of two arguments; the first is compared as an object. *)
type ('a, 'b, 'c, 'd) kept = Empty | Kept of 'a * 'b * 'c * 'd
let same b c = b == c || Stdlib.compare b c = 0
let kept f =
  let sets = 1 lsl 10 in
  let places = Array.make (4 * sets) Empty in
  fun a b c ->
    spend 10;
    let first = 4 * ((Hashtbl.hash_param 30 60 c * 31 + Hashtbl.hash_param 10 20 b) land (sets - 1)) in
    let rec find at =
      match places.(at) with
      | Kept (a', b', c', found) when a == a' && same c c' && same b b' -> found
      | _ ->
        if at < first + 3 then find (at + 1) else begin
          let found = f a b c in
          Array.blit places first places (first + 1) 3;
          places.(first) <- Kept (a, b, c, found); found
        end in
    find first

let quick f a b = spend 1; a == b || f a b
